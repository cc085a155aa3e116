/** Tolerant search for whole lines, ignoring differences in white space or punctuation. Pure. */
import { hasLookalike, lineStarts, parseLine, toPlain, type Line } from "./lines.js";
import { findRuns } from "./match-runs.js";

/** What is ignored when lines are compared; each tolerance includes those before it. */
export type Tolerance = "trailing-space" | "indentation" | "punctuation";

/** The id of a line that equals no wanted line. */
export const OTHER_LINE = -1;

/** Assigns ids from 0 on; equal lines get equal ids. */
export function numberLines(
  lines: readonly Line[],
  tolerance: Tolerance,
): { ids: Map<string, number>; wantedIds: number[] } {
  const ids = new Map<string, number>();
  const wantedIds = lines.map((line) => {
    const key = lineKey(line, tolerance);
    const id = ids.get(key) ?? ids.size;
    ids.set(key, id);
    return id;
  });
  return { ids, wantedIds };
}

/** Two lines are equal under the tolerance when their keys are. */
function lineKey({ lead, body }: Line, tolerance: Tolerance): string {
  if (body === "") return "";
  switch (tolerance) {
    case "trailing-space":
      return lead + body;
    case "indentation":
      return body;
    case "punctuation":
      return toPlain(body);
  }
}

export function areOddSpacesWhite(tolerance: Tolerance): boolean {
  return tolerance === "punctuation";
}

/** A text split into lines once, for searches with several tolerances. */
export class LineTable {
  #starts: readonly number[] | undefined;
  #hasLookalike: boolean | undefined;

  constructor(readonly text: string) {}

  get count(): number {
    return this.#lineStarts().length;
  }

  get hasLookalike(): boolean {
    this.#hasLookalike ??= hasLookalike(this.text);
    return this.#hasLookalike;
  }

  /** The line with its ending. */
  raw(index: number): string {
    return this.text.slice(this.startOf(index), this.startOf(index + 1));
  }

  /** For an index of `count`: the end of the text. */
  startOf(index: number): number {
    return this.#lineStarts()[index] ?? this.text.length;
  }

  parse(index: number, tolerance: Tolerance): Line {
    return parseLine(this.raw(index), areOddSpacesWhite(tolerance));
  }

  /** Calls `found` with the first line of every run of lines that equals `wanted`, including overlapping ones. */
  findLines(wanted: readonly Line[], tolerance: Tolerance, found: (line: number) => void): void {
    const { ids, wantedIds } = numberLines(wanted, tolerance);
    findRuns(this.idsOf(ids, tolerance), wantedIds, found);
  }

  /** For each line the id of its key in `ids`, or `OTHER_LINE`. */
  idsOf(ids: ReadonlyMap<string, number>, tolerance: Tolerance): Int32Array {
    const fileIds = new Int32Array(this.count);
    let raw: string | undefined;
    let id = OTHER_LINE;
    for (let index = 0; index < fileIds.length; index += 1) {
      const next = this.raw(index);
      // Files with very many lines have many equal ones, mostly in a row.
      if (next !== raw)
        id = ids.get(lineKey(parseLine(next, areOddSpacesWhite(tolerance)), tolerance)) ?? OTHER_LINE;
      raw = next;
      fileIds[index] = id;
    }
    return fileIds;
  }

  #lineStarts(): readonly number[] {
    this.#starts ??= lineStarts(this.text);
    return this.#starts;
  }
}
