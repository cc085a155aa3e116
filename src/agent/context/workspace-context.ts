/** A workspace's context for models: operating system, working directory, instruction files and skills. */
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
  /** The agent's own directory. */
  directory: string;
  homeDirectory: string;
  contextPaths: ContextPaths;
  log: Log;
};

/** Reads from disk at each call: the files and the working directory may change at any time. */
export type ContextReader = {
  /** Never rejects because of a file. */
  read(): Promise<WorkspaceContext>;
  readSkill(request: ReadSkillRequest): Promise<Outcome<ReadSkillAnswer>>;
  readSkillFile(request: ReadSkillFileRequest): Promise<Outcome<ReadSkillFileAnswer>>;
};

export function createContextReader(options: ContextOptions): ContextReader {
  const { contextPaths, log } = options;
  const skillSearch = (base: BaseDirectories): SkillSearch => ({
    directories: resolvePaths(contextPaths.skillDirectories, base),
    fileName: contextPaths.skillFile,
    log,
  });
  return {
    async read() {
      const base = await baseDirectories(options);
      const { workingDirectory } = base;
      const [instructionFiles, skills] = await Promise.all([
        readInstructionFiles({
          directories: resolvePaths(contextPaths.instructionDirectories, base),
          workingDirectory,
          fileName: contextPaths.instructionFile,
          log,
        }),
        listSkills(skillSearch(base)),
      ]);
      const operatingSystem = `${process.platform} ${process.arch}`;
      return { operatingSystem, workingDirectory, instructionFiles, skills };
    },
    readSkill: async ({ name }) => readSkill(skillSearch(await baseDirectories(options)), name),
    readSkillFile: async (request) => readSkillFile(skillSearch(await baseDirectories(options)), request),
  };
}

/** The working directory is the one that a command started now would get. */
async function baseDirectories({ directory, homeDirectory }: ContextOptions): Promise<BaseDirectories> {
  const choices = { wanted: undefined, agentDirectory: directory, homeDirectory };
  const chosen = await chooseWorkingDirectory(choices);
  return { homeDirectory, workingDirectory: chosen.kind === "done" ? chosen.value : directory };
}
