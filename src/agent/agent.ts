/** The workspace agent as a plain object: processes, files and instructions of one directory. `http.ts` is its door. */
import { randomUUID } from "node:crypto";
import type { Clock } from "../lib/clock.js";
import type { Log } from "../lib/log.js";
import type { ContextPaths } from "./context/paths.js";
import { createContextReader, type ContextReader } from "./context/workspace-context.js";
import { editFiles } from "./files/edit-files.js";
import { PathLocks } from "./files/path-locks.js";
import { readLines } from "./files/read-lines.js";
import { writeFile } from "./files/write-file.js";
import type { Outcome } from "./outcome.js";
import type { Environment } from "./process/environment.js";
import { ProcessRegistry } from "./process/process-registry.js";
import {
  AGENT_PROTOCOL_VERSION,
  type AgentHealth,
  type EditFilesAnswer,
  type EditFilesRequest,
  type ReadLinesAnswer,
  type ReadLinesRequest,
  type WriteFileAnswer,
  type WriteFileRequest,
} from "./protocol.js";

export type AgentOptions = {
  /** Where relative paths start and commands run; absolute. */
  directory: string;
  /** Where commands run when `directory` is gone, and where the context's `~` leads. */
  homeDirectory: string;
  contextPaths: ContextPaths;
  /** What commands inherit. */
  environment: Environment;
  clock: Clock;
  log: Log;
};

export type Agent = {
  health(): AgentHealth;
  processes: ProcessRegistry;
  context: ContextReader;
  readLines(request: ReadLinesRequest): Promise<ReadLinesAnswer>;
  writeFile(request: WriteFileRequest): Promise<Outcome<WriteFileAnswer>>;
  editFiles(request: EditFilesRequest): Promise<Outcome<EditFilesAnswer>>;
  /** Ends every command; resolves when they are gone. */
  close(): Promise<void>;
};

export function createAgent(options: AgentOptions): Agent {
  const { directory } = options;
  const instanceId = randomUUID();
  const processes = new ProcessRegistry(options);
  const locks = new PathLocks();
  return {
    health: () => ({ version: AGENT_PROTOCOL_VERSION, workingDirectory: directory, instanceId }),
    processes,
    context: createContextReader(options),
    readLines: (request) => readLines(directory, request),
    writeFile: (request) => writeFile(directory, locks, request),
    editFiles: (request) => editFiles(directory, locks, request),
    close: () => processes.close(),
  };
}
