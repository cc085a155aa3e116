/** Parser for ripgrep's output with `--count --null`. Pure. */

const NUL = 0x00;
const NEWLINE = 0x0a;
const OWN_FOLDER = "./";

/** Matching lines by path, relative to ripgrep's working directory. Skips a truncated last entry. */
export function parseCounts(bytes: Uint8Array): Map<string, number> {
  const output = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const counts = new Map<string, number>();
  let start = 0;
  for (;;) {
    const nul = output.indexOf(NUL, start);
    const end = nul === -1 ? -1 : output.indexOf(NEWLINE, nul);
    if (end === -1) return counts;
    const path = output.toString("utf8", start, nul);
    counts.set(
      path.startsWith(OWN_FOLDER) ? path.slice(OWN_FOLDER.length) : path,
      Number(output.toString("latin1", nul + 1, end)),
    );
    start = end + 1;
  }
}
