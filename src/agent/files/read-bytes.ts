/** Streams the bytes of a file or of a part of it. */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { Readable } from "node:stream";
import { done, refused, type Outcome } from "../outcome.js";
import type { ReadBytesQuery } from "../protocol/files.js";
import { absolutePath, fileRefusal } from "./paths.js";

/**
 * `content` has exactly `length` bytes, or fails when the file becomes shorter meanwhile; it must be read or
 * destroyed.
 */
export type FileBytes = { length: number; fileSize: number; content: Readable };

export async function readBytes(directory: string, query: ReadBytesQuery): Promise<Outcome<FileBytes>> {
  const path = absolutePath(directory, query.path);
  try {
    // Non-blocking: opening a pipe would otherwise wait for a writer.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await file.stat();
    if (!stats.isFile()) {
      await file.close();
      const reason = stats.isDirectory() ? "is a directory" : "is not a regular file";
      return refused(400, `${path} ${reason}.`, { field: "path" });
    }
    const { offset = 0, limit = 0 } = query;
    const rest = Math.max(0, stats.size - offset);
    const length = limit === 0 ? rest : Math.min(limit, rest);
    if (length === 0) {
      await file.close();
      return done({ length, fileSize: stats.size, content: Readable.from([]) });
    }
    const content = file.createReadStream({ start: offset, end: offset + length - 1 });
    return done({ length, fileSize: stats.size, content });
  } catch (error) {
    return fileRefusal(error, path);
  }
}
