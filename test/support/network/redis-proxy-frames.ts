// Splits the bytes that Redis sends into whole values: replies, and published messages, which a network may disturb
// without breaking the protocol.

const LINE_END = "\r\n";
const LINE_END_BYTES = 2;

/** One connection's bytes from the server, in RESP2 or RESP3. */
export class RedisFrames {
  /** The beginning of a value whose end has not come yet. */
  #rest: Buffer = Buffer.alloc(0);

  /** The values that are whole with this chunk, in order, byte for byte. */
  split(chunk: Buffer): Buffer[] {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const frames: Buffer[] = [];
    let start = 0;
    for (let end = endOf(bytes, start); end !== null; end = endOf(bytes, start)) {
      frames.push(bytes.subarray(start, end));
      start = end;
    }
    this.#rest = bytes.subarray(start);
    return frames;
  }
}

const PUBLISHED = /^[>*](?:3\r\n\$7\r\nmessage|3\r\n\$8\r\nsmessage|4\r\n\$8\r\npmessage)\r\n/;
const PUBLISHED_HEAD_BYTES = 24;

/** Whether a whole value is a published message; a subscription's confirmation is not. */
export function isPublished(frame: Buffer): boolean {
  return PUBLISHED.test(frame.toString("latin1", 0, PUBLISHED_HEAD_BYTES));
}

/** Where the value ends that begins at `start`; null when its end is not there yet. */
function endOf(bytes: Buffer, start: number): number | null {
  let at = start;
  for (let missing = 1; missing > 0; missing -= 1) {
    const lineEnd = bytes.indexOf(LINE_END, at);
    if (lineEnd < 0) return null;
    const { values, length } = contentOf(bytes.toString("latin1", at, lineEnd));
    missing += values;
    at = lineEnd + LINE_END_BYTES + length;
    if (at > bytes.length) return null;
  }
  return at;
}

/** What follows a value's first line: so many values, or so many bytes. */
function contentOf(line: string): { values: number; length: number } {
  const type = line.charAt(0);
  const count = Math.max(0, Number(line.slice(1)));
  switch (type) {
    case "+":
    case "-":
    case ":":
    case "_":
    case ",":
    case "#":
    case "(":
      return { values: 0, length: 0 };
    case "$":
    case "!":
    case "=":
      return { values: 0, length: line === `${type}-1` ? 0 : count + LINE_END_BYTES };
    case "*":
    case "~":
    case ">":
      return { values: count, length: 0 };
    case "%":
      return { values: 2 * count, length: 0 };
    case "|":
      // Attributes come ahead of the value that they describe.
      return { values: 2 * count + 1, length: 0 };
    default:
      throw new Error(`A Redis says something unknown: ${JSON.stringify(line.slice(0, 80))}`);
  }
}
