/**
 * Bounded buffer for the beginning and the end of a command's output: how a build starts and how it fails matter most.
 * Takes bytes and returns text, cut only between characters.
 */
import { prefixEnd, suffixStart } from "../../lib/text/utf8.js";
import type { Truncation } from "../protocol/processes.js";

const HEAD_BYTES = 16 * 1024;
const TAIL_BYTES = 16 * 1024;
/** A longer line (minified code, a progress bar) is cut, so that it does not displace all others. */
const MAX_LINE_BYTES = 2048;
const LINE_SUFFIX = " ... [truncated]";
const NEWLINE = 0x0a;

type Rendered = { text: string; retainedBytes: number };

export class HeadTailBuffer {
  readonly #head = Buffer.alloc(HEAD_BYTES);
  #headLength = 0;
  /** Ring buffer, allocated when the head is full. `#tailNext` is the position of the next byte. */
  #tail: Buffer | undefined;
  #tailNext = 0;
  #tailLength = 0;
  #writtenBytes = 0;

  /** Copies all of `chunk`; never fails. */
  write(chunk: Uint8Array): void {
    this.#writtenBytes += chunk.length;
    const toHead = Math.min(chunk.length, HEAD_BYTES - this.#headLength);
    this.#head.set(chunk.subarray(0, toHead), this.#headLength);
    this.#headLength += toHead;
    if (toHead < chunk.length) this.#writeTail(chunk.subarray(toHead));
  }

  /** The retained output; `truncation` is absent when every byte is in `output`. */
  read(): { output: string; truncation?: Truncation } {
    const head = this.#head.subarray(0, this.#headLength);
    const tail = this.#tailBytes();
    const isWhole = head.length + tail.length === this.#writtenBytes;
    const { text, retainedBytes } = isWhole
      ? cutLines(Buffer.concat([head, tail]))
      : renderParts(head, tail, this.#writtenBytes);
    const omittedBytes = this.#writtenBytes - retainedBytes;
    if (omittedBytes === 0) return { output: text };
    const truncation: Truncation = {
      originalBytes: this.#writtenBytes,
      retainedBytes,
      omittedBytes,
      strategy: "head_tail",
    };
    return { output: text, truncation };
  }

  #writeTail(chunk: Uint8Array): void {
    this.#tail ??= Buffer.alloc(TAIL_BYTES);
    const retained = chunk.subarray(Math.max(0, chunk.length - TAIL_BYTES));
    const untilEnd = Math.min(retained.length, TAIL_BYTES - this.#tailNext);
    this.#tail.set(retained.subarray(0, untilEnd), this.#tailNext);
    this.#tail.set(retained.subarray(untilEnd), 0);
    this.#tailNext = (this.#tailNext + retained.length) % TAIL_BYTES;
    this.#tailLength = Math.min(TAIL_BYTES, this.#tailLength + retained.length);
  }

  #tailBytes(): Buffer {
    if (this.#tail === undefined) return Buffer.alloc(0);
    if (this.#tailLength < TAIL_BYTES) return this.#tail.subarray(0, this.#tailLength);
    return Buffer.concat([this.#tail.subarray(this.#tailNext), this.#tail.subarray(0, this.#tailNext)]);
  }
}

function renderParts(head: Buffer, tail: Buffer, writtenBytes: number): Rendered {
  const wholeHead = head.subarray(0, prefixEnd(head, head.length));
  const wholeTail = tail.subarray(suffixStart(tail, 0));
  const gapBytes = writtenBytes - wholeHead.length - wholeTail.length;
  const first = cutLines(wholeHead);
  const last = cutLines(wholeTail);
  return {
    text: `${first.text}\n\n... [omitted ${gapBytes} bytes] ...\n\n${last.text}`,
    retainedBytes: first.retainedBytes + last.retainedBytes,
  };
}

function cutLines(bytes: Buffer): Rendered {
  if (bytes.length <= MAX_LINE_BYTES) return { text: bytes.toString("utf8"), retainedBytes: bytes.length };
  const parts: Buffer[] = [];
  let retainedBytes = 0;
  let start = 0;
  while (start < bytes.length) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline === -1 ? bytes.length : newline;
    const line = bytes.subarray(start, end);
    const isLong = line.length > MAX_LINE_BYTES;
    const retained = isLong ? line.subarray(0, prefixEnd(line, MAX_LINE_BYTES - LINE_SUFFIX.length)) : line;
    parts.push(retained);
    if (isLong) parts.push(Buffer.from(LINE_SUFFIX));
    if (newline !== -1) parts.push(bytes.subarray(newline, newline + 1));
    retainedBytes += retained.length + (newline === -1 ? 0 : 1);
    start = end + 1;
  }
  return { text: Buffer.concat(parts).toString("utf8"), retainedBytes };
}
