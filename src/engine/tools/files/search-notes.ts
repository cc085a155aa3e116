/** Notes for the model about an incomplete search. Pure. */

type SearchFacts = { endedEarly?: "time" | "count" | undefined; unreadable: number };

/** One sentence per fact, or nothing. `more` counts results that are not shown, in `unit`. */
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
