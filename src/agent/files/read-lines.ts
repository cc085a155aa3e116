/** Numbered lines of a text file or of a part of it, within limits for a model. */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { prefixEnd } from "../../lib/text/utf8.js";
import type { ReadLinesAnswer, ReadLinesRequest } from "../protocol/files.js";
import { absolutePath, fileRefusal } from "./paths.js";

const MAX_READ_FILE_BYTES = 1024 * 1024;
const MAX_LINE_BYTES = 1024;
const MAX_LINES = 2000;
const MAX_ANSWER_BYTES = 32 * 1024;
const LINE_SUFFIX = "... [truncated]";
const NEWLINE = 0x0a;

/** Never rejects: `error` says why the file cannot be read. */
export async function readLines(directory: string, request: ReadLinesRequest): Promise<ReadLinesAnswer> {
  const path = absolutePath(directory, request.path);
  try {
    const read = await readSmallFile(path);
    return typeof read === "string" ? failure(read) : showLines(path, read, request);
  } catch (error) {
    return failure(fileRefusal(error, path).message);
  }
}

function failure(error: string): ReadLinesAnswer {
  return { success: false, error };
}

/** The content, or the reason why it cannot be shown. Reads to the end, as `stat` reports a size of 0 in /proc. */
async function readSmallFile(path: string): Promise<Buffer | string> {
  const file = await openRegular(path);
  if (typeof file === "string") return file;
  try {
    const { size } = await file.stat();
    if (size > MAX_READ_FILE_BYTES) return tooLarge(path, size);
    const bytes = Buffer.alloc(MAX_READ_FILE_BYTES + 1);
    let length = 0;
    for (let isAtEnd = false; !isAtEnd && length < bytes.length;) {
      const { bytesRead } = await file.read(bytes, length, bytes.length - length);
      isAtEnd = bytesRead === 0;
      length += bytesRead;
    }
    if (length > MAX_READ_FILE_BYTES) return tooLarge(path, length);
    return bytes.subarray(0, length);
  } finally {
    await file.close();
  }
}

function tooLarge(path: string, bytes: number): string {
  return `${path} has ${bytes} bytes, more than the ${MAX_READ_FILE_BYTES} that can be read; show parts of it with a command (for example sed -n '1,100p').`;
}

/** Non-blocking: opening a pipe would otherwise wait for a writer. */
async function openRegular(path: string) {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const stats = await file.stat();
  if (stats.isFile()) return file;
  await file.close();
  return stats.isDirectory()
    ? `${path} is a directory; it can be listed, not read.`
    : `${path} is not a regular file.`;
}

function showLines(path: string, bytes: Buffer, request: ReadLinesRequest): ReadLinesAnswer {
  const fileSize = bytes.length;
  if (fileSize === 0) return { success: true, fileSize, totalLines: 0, linesRead: 0, content: "" };
  if (bytes.includes(0))
    return failure(`${path} is a binary file (${fileSize} bytes); it cannot be shown as lines.`);
  const lines = splitLines(bytes);
  const totalLines = lines.length;
  const offset = request.offset ?? 1;
  if (offset > totalLines)
    return failure(`offset ${offset} is beyond the end: ${path} has ${totalLines} line(s).`);
  const wanted = lines.slice(offset - 1, offset - 1 + (request.limit ?? MAX_LINES));
  if (wanted.length > MAX_LINES) {
    return failure(
      `${wanted.length} lines are more than the ${MAX_LINES} shown at once; set limit to ${MAX_LINES} or less.`,
    );
  }
  const rows = wanted.map((line, index) => `${offset + index}\t${showLine(line)}`);
  const fitting = countFitting(rows);
  if (fitting < rows.length) {
    return failure(
      `The lines exceed the ${MAX_ANSWER_BYTES} bytes shown at once (${path} has ${totalLines} lines); ` +
        `call again with offset=${offset} and limit=${fitting}, then go on from there.`,
    );
  }
  return { success: true, fileSize, totalLines, linesRead: rows.length, content: rows.join("\n") };
}

/** A newline at the end of the file ends the last line; it does not begin another. */
function splitLines(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let start = 0;
  while (start < bytes.length) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline === -1 ? bytes.length : newline;
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return lines;
}

function showLine(line: Buffer): string {
  if (line.length <= MAX_LINE_BYTES) return line.toString("utf8");
  return line.toString("utf8", 0, prefixEnd(line, MAX_LINE_BYTES)) + LINE_SUFFIX;
}

function countFitting(rows: string[]): number {
  let bytes = -1;
  for (const [index, row] of rows.entries()) {
    bytes += 1 + Buffer.byteLength(row);
    if (bytes > MAX_ANSWER_BYTES) return index;
  }
  return rows.length;
}
