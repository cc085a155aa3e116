/** Shortens a text that is too long as JSON by removing its middle. Pure. */

/** Share of the beginning in what remains: output of commands ends with the result but begins with the subject. */
const HEAD_SHARE = 2 / 3;
const QUOTES_BYTES = 2;

/** Bytes of UTF-8 of the string as JSON, quotes included. */
export function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text));
}

/**
 * `text` in at most `limitBytes` (at least 2) bytes of JSON: unchanged, or two thirds from its beginning and one third
 * from its end around a line that says how many bytes of UTF-8 were left out. Characters stay whole. When the limit has
 * no space for that line, only the beginning remains.
 */
export function cutString(text: string, limitBytes: number): string {
  // Each UTF-16 unit is at least one byte, so a much too long text need not be serialized.
  if (text.length + QUOTES_BYTES <= limitBytes && jsonBytes(text) <= limitBytes) return text;
  const textBytes = Buffer.byteLength(text);
  const availableBytes = limitBytes - jsonBytes(marker(textBytes));
  if (availableBytes <= 0) return text.slice(0, headEnd(text, limitBytes - QUOTES_BYTES));
  const headBytes = Math.floor(availableBytes * HEAD_SHARE);
  const head = text.slice(0, headEnd(text, headBytes));
  const tail = text.slice(tailStart(text, availableBytes - headBytes));
  return `${head}${marker(textBytes - Buffer.byteLength(head) - Buffer.byteLength(tail))}${tail}`;
}

function marker(bytes: number): string {
  return `\n\n... [${bytes} bytes left out] ...\n\n`;
}

function headEnd(text: string, limitBytes: number): number {
  let end = 0;
  for (let rest = limitBytes; end < text.length;) {
    const code = text.codePointAt(end) ?? 0;
    rest -= characterBytes(code);
    if (rest < 0) break;
    end += code > 0xffff ? 2 : 1;
  }
  return end;
}

function tailStart(text: string, limitBytes: number): number {
  let start = text.length;
  for (let rest = limitBytes; start > 0;) {
    const pair = start >= 2 ? (text.codePointAt(start - 2) ?? 0) : 0;
    const code = pair > 0xffff ? pair : text.charCodeAt(start - 1);
    rest -= characterBytes(code);
    if (rest < 0) break;
    start -= code > 0xffff ? 2 : 1;
  }
  return start;
}

/** Bytes of a character in a JSON string as `JSON.stringify` writes it, which also escapes lone surrogates. */
function characterBytes(code: number): number {
  if (code < 0x20) return "\b\t\n\f\r".includes(String.fromCharCode(code)) ? 2 : 6;
  if (code === 0x22 || code === 0x5c) return 2;
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  if (code >= 0xd800 && code <= 0xdfff) return 6;
  return code < 0x1_0000 ? 3 : 4;
}
