/** Finds and reads the instruction files for coding agents in a repository and in the user's directories. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../../lib/log.js";
import { errorCode } from "../outcome.js";
import type { InstructionFile } from "../protocol/context.js";
import { cleanText } from "./clean-text.js";
import { readStart, type FileStart } from "./read-start.js";

/** Of each file. More would crowd the conversation out of the context. */
const MAX_INSTRUCTION_FILE_BYTES = 64 * 1024;
/** Of all files together: about 64,000 tokens in every model call. */
const MAX_INSTRUCTION_BYTES = 256 * 1024;

export type InstructionSearch = {
  /** Absolute; searched in this order. */
  directories: readonly string[];
  /** Searched last, unless it is among `directories`. */
  workingDirectory: string;
  fileName: string;
  log: Log;
};

/** One file of each directory at most; unreadable and empty files are skipped. Never rejects. */
export async function readInstructionFiles(search: InstructionSearch): Promise<InstructionFile[]> {
  const { workingDirectory, log } = search;
  const found: InstructionFile[] = [];
  let totalBytes = 0;
  for (const directory of new Set([...search.directories, workingDirectory])) {
    // A repository is untrusted: its links must not bring the user's own files into a prompt.
    const within = directory === workingDirectory ? workingDirectory : undefined;
    const file = await readInstructionFile(directory, within, search);
    if (file === undefined) continue;
    totalBytes += Buffer.byteLength(file.content);
    if (totalBytes > MAX_INSTRUCTION_BYTES) {
      log.warn(
        { path: file.path, limitBytes: MAX_INSTRUCTION_BYTES },
        "instruction file skipped: all files together are too long",
      );
      break;
    }
    found.push(file);
  }
  return found;
}

async function readInstructionFile(
  directory: string,
  within: string | undefined,
  { fileName, log }: InstructionSearch,
): Promise<InstructionFile | undefined> {
  for (const name of await matchingNames(directory, fileName, log)) {
    const path = join(directory, name);
    const read = await readStart(path, { limitBytes: MAX_INSTRUCTION_FILE_BYTES, within });
    if (read.kind === "done") return asInstructions(path, read.value);
    log.warn({ path, reason: read.message }, "instruction file unreadable");
  }
  return undefined;
}

function asInstructions(path: string, { text, isTruncated }: FileStart): InstructionFile | undefined {
  const content = cleanText(text);
  return content === "" ? undefined : { path, content, isTruncated };
}

/** Entries with the name in any case, sorted; empty when the directory does not exist. */
async function matchingNames(directory: string, fileName: string, log: Log): Promise<string[]> {
  try {
    const wanted = fileName.toLowerCase();
    const names = await readdir(directory);
    return names.filter((name) => name.trim().toLowerCase() === wanted).sort();
  } catch (error) {
    if (errorCode(error) !== "ENOENT" && errorCode(error) !== "ENOTDIR")
      log.warn({ err: error, directory }, "cannot search directory for instruction files");
    return [];
  }
}
