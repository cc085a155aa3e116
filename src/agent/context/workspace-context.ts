/** What a model should know of a workspace before its first word: where it is, its instructions, its skills. */
import type { Log } from "../../lib/log.js";
import type { Outcome } from "../outcome.js";
import { chooseWorkingDirectory } from "../process/working-directory.js";
import type {
  ReadSkillAnswer,
  ReadSkillFileAnswer,
  ReadSkillFileRequest,
  ReadSkillRequest,
  WorkspaceContext,
} from "../protocol/context.js";
import { readInstructionFiles } from "./instructions.js";
import { resolvePaths, type ContextPaths, type BaseDirectories } from "./paths.js";
import { listSkills, readSkill, readSkillFile, type SkillSearch } from "./skills.js";

export type ContextOptions = {
  /** The agent's own. */
  directory: string;
  homeDirectory: string;
  contextPaths: ContextPaths;
  log: Log;
};

/** Reads anew at each call: files come and go, and so may the working directory. */
export type ContextReader = {
  /** Never rejects because of a file. */
  read(): Promise<WorkspaceContext>;
  readSkill(request: ReadSkillRequest): Promise<Outcome<ReadSkillAnswer>>;
  readSkillFile(request: ReadSkillFileRequest): Promise<Outcome<ReadSkillFileAnswer>>;
};

export function createContextReader(options: ContextOptions): ContextReader {
  const { contextPaths, log } = options;
  const skillSearch = (places: BaseDirectories): SkillSearch => ({
    directories: resolvePaths(contextPaths.skillDirectories, places),
    fileName: contextPaths.skillFile,
    log,
  });
  return {
    async read() {
      const places = await baseDirectories(options);
      const { workingDirectory } = places;
      const [instructionFiles, skills] = await Promise.all([
        readInstructionFiles({
          directories: resolvePaths(contextPaths.instructionDirectories, places),
          workingDirectory,
          fileName: contextPaths.instructionFile,
          log,
        }),
        listSkills(skillSearch(places)),
      ]);
      const operatingSystem = `${process.platform} ${process.arch}`;
      return { operatingSystem, workingDirectory, instructionFiles, skills };
    },
    readSkill: async ({ name }) => readSkill(skillSearch(await baseDirectories(options)), name),
    readSkillFile: async (request) => readSkillFile(skillSearch(await baseDirectories(options)), request),
  };
}

/** The working directory is where a command would run now. */
async function baseDirectories({ directory, homeDirectory }: ContextOptions): Promise<BaseDirectories> {
  const choices = { wanted: undefined, agentDirectory: directory, homeDirectory };
  const chosen = await chooseWorkingDirectory(choices);
  return { homeDirectory, workingDirectory: chosen.kind === "done" ? chosen.value : directory };
}
