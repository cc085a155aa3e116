/**
 * Reads the beginning of an untrusted text file: bounded, never blocking, and contained in a directory despite links.
 */
import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { sep } from "node:path";
import { prefixEnd } from "../../lib/text/utf8.js";
import { fileRefusal } from "../files/paths.js";
import { done, refused, type Outcome } from "../outcome.js";

/** `realPath`: of the file that was read, once all links were resolved. */
export type FileStart = { text: string; isTruncated: boolean; realPath: string };

export type ReadStartOptions = {
  limitBytes: number;
  /** Absolute directory; a file outside of it, once all links are resolved, is refused. Absent: any location. */
  within?: string;
};

/** `path` is absolute. Never rejects; content beyond `limitBytes` is omitted. */
export async function readStart(path: string, options: ReadStartOptions): Promise<Outcome<FileStart>> {
  try {
    const real = await realpath(path);
    if (options.within !== undefined && !isInside(await realpath(options.within), real)) {
      return refused(403, `${path} leads out of ${options.within}.`, { field: "path" });
    }
    const bytes = await readBytes(real, options.limitBytes + 1);
    if (bytes === undefined) return refused(400, `${path} is not a regular file.`, { field: "path" });
    if (bytes.includes(0))
      return refused(400, `${path} is a binary file; it cannot be shown as text.`, { field: "path" });
    const isTruncated = bytes.length > options.limitBytes;
    const end = isTruncated ? prefixEnd(bytes, options.limitBytes) : bytes.length;
    return done({ text: bytes.toString("utf8", 0, end), isTruncated, realPath: real });
  } catch (error) {
    return fileRefusal(error, path);
  }
}

function isInside(directory: string, path: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

/** Undefined when it is not a regular file. `path` is free of links; one that appears meanwhile is not followed. */
async function readBytes(path: string, maxBytes: number): Promise<Buffer | undefined> {
  // Non-blocking: opening a pipe would otherwise wait for a writer.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    if (!(await file.stat()).isFile()) return undefined;
    const bytes = Buffer.alloc(maxBytes);
    let length = 0;
    while (length < maxBytes) {
      const { bytesRead } = await file.read(bytes, length, maxBytes - length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return bytes.subarray(0, length);
  } finally {
    await file.close();
  }
}
