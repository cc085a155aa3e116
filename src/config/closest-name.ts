// The hint for a misspelled name.
import { closest, distance } from "fastest-levenshtein";

/** Beyond this part of its letters a word is another one, not a misspelled one. */
const MOST_WRONG = 0.4;

/** Null when no name is similar. */
export function closestName(wrong: string, names: readonly string[]): string | null {
  if (names.length === 0) return null;
  const best = closest(wrong, names);
  const mostWrong = Math.max(2, Math.max(wrong.length, best.length) * MOST_WRONG);
  return distance(wrong, best) <= mostWrong ? best : null;
}
