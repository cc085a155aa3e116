/** What a model should be told of a search that did not see or show everything. Pure. */

type SearchFacts = { endedEarly?: "time" | "count" | undefined; unreadable: number };

/** One sentence for each fact, or nothing. `more` counts what was found but is not shown, in `unit`. */
export function noteOf(
  { endedEarly, unreadable }: SearchFacts,
  { more, unit, otherFacts = [] }: { more: number; unit: string; otherFacts?: readonly string[] },
): { note?: string } {
  const sentences = [
    more > 0 &&
      `${endedEarly === undefined ? "" : "At least "}${more} more ${unit} are not shown; narrow the search down with a more particular pattern or path.`,
    endedEarly === "time" &&
      "The search took too long and ended before it had seen every file; search a smaller directory.",
    ...otherFacts,
    unreadable > 0 && `${unreadable} directories or files could not be read.`,
  ].filter((sentence) => sentence !== false);
  return sentences.length === 0 ? {} : { note: sentences.join(" ") };
}
