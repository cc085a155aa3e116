/** Error text for a call of a tool that does not exist. Pure. */
import { cutText } from "../../lib/text/utf8.js";

const MAX_NAMES = 100;
const MAX_NAME_BYTES = 128;
/** Beyond this a name is another word, not a misspelling. */
const MAX_DISTANCE_SHARE = 1 / 3;

/** Lists the existing tools, at most a hundred, and the one that was probably meant. */
export function describeUnknownTool(called: string, names: readonly string[]): string {
  const missing = `There is no tool named ${JSON.stringify(cutText(called, MAX_NAME_BYTES))}.`;
  if (names.length === 0) return `${missing} This chat has no tools.`;
  const meant = nearestName(called, names);
  const rest = names.length - MAX_NAMES;
  const list = names.slice(0, MAX_NAMES).map((name) => cutText(name, MAX_NAME_BYTES));
  return [
    missing,
    ...(meant === undefined ? [] : [`Did you mean ${cutText(meant, MAX_NAME_BYTES)}?`]),
    `The tools are: ${list.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}.`,
  ].join(" ");
}

/** The same name in another notation ("functions.ReadFile" for "read_file") or with few wrong letters. */
export function nearestName(called: string, names: readonly string[]): string | undefined {
  const wanted = lettersOf(called);
  if (wanted === "") return undefined;
  let nearest: { name: string; distance: number } | undefined;
  for (const name of names) {
    const letters = lettersOf(name);
    if (letters === "") continue;
    const distance = wanted.endsWith(letters) && wanted !== letters ? 1 : editDistance(wanted, letters);
    if (distance > letters.length * MAX_DISTANCE_SHARE) continue;
    if (nearest === undefined || distance < nearest.distance) nearest = { name, distance };
  }
  return nearest?.name;
}

function lettersOf(name: string): string {
  return cutText(name, MAX_NAME_BYTES)
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number}]/gu, "");
}

/** Levenshtein distance, computed one row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const changed = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
