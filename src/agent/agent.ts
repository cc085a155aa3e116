/** The workspace agent without its transport: processes, files and instructions of one directory. See `http.ts`. */
import { randomUUID } from "node:crypto";
import type { Clock } from "../lib/clock.js";
import type { Log } from "../lib/log.js";
import { VERSION } from "../lib/version.js";
import { Askpass } from "./askpass/askpass.js";
import { ControlChannels } from "./askpass/control-channels.js";
import type { ContextPaths } from "./context/paths.js";
import { createContextReader, type ContextReader } from "./context/workspace-context.js";
import { editFiles } from "./files/edit-files.js";
import { HiddenFolders } from "./files/hidden-folders.js";
import { listDirectory } from "./files/list-directory.js";
import { PathLocks } from "./files/path-locks.js";
import { absolutePath, resolveLinks } from "./files/paths.js";
import { readBytes, type FileBytes } from "./files/read-bytes.js";
import { readLines } from "./files/read-lines.js";
import { writeFile } from "./files/write-file.js";
import { GitWatches } from "./git/git-watches.js";
import { createAgentMetrics, type AgentMetrics } from "./metrics.js";
import { WorkspaceMcpServers } from "./mcp/workspace-servers.js";
import { done, type Outcome } from "./outcome.js";
import type { Environment } from "./process/environment.js";
import { DEFAULT_PROCESS_LIMITS, type ProcessLimits } from "./process/process-limits.js";
import { ProcessRegistry } from "./process/process-registry.js";
import { Search } from "./search/search.js";
import type {
  EditFilesAnswer,
  EditFilesRequest,
  ListDirectoryAnswer,
  ListDirectoryRequest,
  ReadBytesQuery,
  ReadLinesAnswer,
  ReadLinesRequest,
  ResolvePathAnswer,
  ResolvePathRequest,
  WriteFileAnswer,
  WriteFileRequest,
} from "./protocol/files.js";
import type { AgentHealth } from "./protocol/health.js";
import { AGENT_CAPABILITIES, AGENT_PROTOCOL_VERSION } from "./protocol/paths.js";

export type AgentOptions = {
  /** Base of relative paths and working directory of commands; absolute. */
  directory: string;
  /** Working directory of commands when `directory` is gone, and the meaning of `~` in context paths. */
  homeDirectory: string;
  contextPaths: ContextPaths;
  /** Not shown by file tools; default: none. */
  hiddenFolders?: HiddenFolders;
  /** Inherited by commands. */
  environment: Environment;
  /** Niceness of commands, 0 (the default) to 19; see `nice`. */
  commandNice?: number;
  /** Default: `DEFAULT_PROCESS_LIMITS`. */
  processLimits?: ProcessLimits;
  clock: Clock;
  log: Log;
};

export type Agent = {
  health(): AgentHealth;
  metrics: AgentMetrics;
  processes: ProcessRegistry;
  context: ContextReader;
  mcpServers: WorkspaceMcpServers;
  git: GitWatches;
  search: Search;
  /** For requests from the agent to its servers. */
  controlChannels: ControlChannels;
  readLines(request: ReadLinesRequest): Promise<ReadLinesAnswer>;
  readBytes(query: ReadBytesQuery): Promise<Outcome<FileBytes>>;
  listDirectory(request: ListDirectoryRequest): Promise<Outcome<ListDirectoryAnswer>>;
  resolvePath(request: ResolvePathRequest): Promise<Outcome<ResolvePathAnswer>>;
  writeFile(request: WriteFileRequest): Promise<Outcome<WriteFileAnswer>>;
  editFiles(request: EditFilesRequest): Promise<Outcome<EditFilesAnswer>>;
  /** Ends every command and MCP server; resolves when they are gone. */
  close(): Promise<void>;
};

export function createAgent(options: AgentOptions): Agent {
  const { directory } = options;
  const instanceId = randomUUID();
  const metrics = createAgentMetrics();
  const git = new GitWatches(options);
  const controlChannels = new ControlChannels(options);
  const askpass = new Askpass({ ...options, askServers: (request) => controlChannels.ask(request) });
  const processes = new ProcessRegistry({
    ...options,
    askpassFor: (chatId) => askpass.configFor(chatId),
    instanceId,
    nice: options.commandNice ?? 0,
    limits: options.processLimits ?? DEFAULT_PROCESS_LIMITS,
    onStart: (shell, process) => {
      metrics.watchProcess(shell, process);
      const { facts } = process;
      git.workedIn(facts, facts.workdir);
      process.onExit(() => git.workedIn(facts, facts.workdir));
    },
  });
  const mcpServers = new WorkspaceMcpServers(options);
  const hiddenFolders = options.hiddenFolders ?? new HiddenFolders([], directory);
  const search = new Search({ ...options, hiddenFolders });
  return {
    health: () => ({
      version: AGENT_PROTOCOL_VERSION,
      programVersion: VERSION,
      capabilities: AGENT_CAPABILITIES,
      workingDirectory: directory,
      instanceId,
    }),
    metrics,
    processes,
    context: createContextReader(options),
    mcpServers,
    git,
    search,
    controlChannels,
    ...fileOperations(directory, hiddenFolders),
    close: async () => {
      controlChannels.close();
      await Promise.all([processes.close(), mcpServers.close(), search.close(), git.close()]);
      // Last: commands that are ending may still run the askpass script.
      await askpass.close();
    },
  };
}

type FileOperations = Pick<
  Agent,
  "readLines" | "readBytes" | "listDirectory" | "resolvePath" | "writeFile" | "editFiles"
>;

/** `directory`: base of relative paths. Writes to the same file run one after the other. */
function fileOperations(directory: string, hidden: HiddenFolders): FileOperations {
  const locks = new PathLocks();
  /** `operation`, unless one of the paths leads into a hidden folder. */
  const unlessHidden = async <Value>(paths: readonly string[], operation: () => Promise<Outcome<Value>>) => {
    for (const path of paths) {
      const checked = await hidden.check(path);
      if (checked.kind === "refused") return checked;
    }
    return operation();
  };
  return {
    readLines: async (request) => {
      const checked = await hidden.check(request.path);
      return checked.kind === "refused"
        ? { success: false, error: checked.message }
        : readLines(directory, request);
    },
    readBytes: (query) => unlessHidden([query.path], () => readBytes(directory, query)),
    listDirectory: (request) =>
      unlessHidden([request.path ?? "."], () => listDirectory(directory, request, hidden)),
    resolvePath: async (request) => {
      const resolved = await resolveLinks(absolutePath(directory, request.path));
      return resolved.kind === "refused" ? resolved : done({ path: resolved.value });
    },
    writeFile: (request) => unlessHidden([request.path], () => writeFile(directory, locks, request)),
    editFiles: (request) =>
      unlessHidden(
        request.files.map(({ path }) => path),
        () => editFiles(directory, locks, request),
      ),
  };
}
