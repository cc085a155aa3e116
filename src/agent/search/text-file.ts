/** Reader of files to be searched: UTF-8, or UTF-16 with a byte order mark; anything else counts as binary. */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { MAX_SEARCHED_FILE_BYTES } from "../protocol/search.js";

export type TextFile = { kind: "text"; lines: string[] } | { kind: "binary" } | { kind: "too-large" };

/** For files that are longer than their reported size. */
const MIN_READ_BYTES = 64 * 1024;

const utf8 = new TextDecoder("utf-8");
const encodings = [
  { mark: [0xff, 0xfe], decoder: new TextDecoder("utf-16le") },
  { mark: [0xfe, 0xff], decoder: new TextDecoder("utf-16be") },
];

/** Throws file system errors. Blocks while it reads, but skips pipes and devices. */
export function readTextFile(path: string): TextFile {
  const bytes = readBounded(path);
  if (bytes === undefined) return { kind: "too-large" };
  const encoding = encodings.find(({ mark }) => mark.every((byte, index) => bytes[index] === byte));
  const text = (encoding?.decoder ?? utf8).decode(bytes);
  if (text.includes("\0")) return { kind: "binary" };
  const lines = text.split(/\r?\n/);
  // A newline at the end of the file ends the last line; it does not begin another.
  if (lines.at(-1) === "") lines.pop();
  return { kind: "text", lines };
}

/** Reads to the end, as the size is reported as 0 in /proc. */
function readBounded(path: string): Buffer | undefined {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) return Buffer.alloc(0);
    if (stats.size > MAX_SEARCHED_FILE_BYTES) return undefined;
    const chunks: Buffer[] = [];
    let length = 0;
    // One more byte than the size, so that the end is usually found in the first read.
    for (let wanted = stats.size + 1; length <= MAX_SEARCHED_FILE_BYTES; wanted = MIN_READ_BYTES) {
      const chunk = Buffer.allocUnsafe(wanted);
      const read = readSync(file, chunk, 0, wanted, null);
      if (read === 0) return Buffer.concat(chunks, length);
      chunks.push(chunk.subarray(0, read));
      length += read;
    }
    return undefined;
  } finally {
    closeSync(file);
  }
}
