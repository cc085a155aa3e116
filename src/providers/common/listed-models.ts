/** What a vendor's list of models says of each, in our words. Pure, but for the reading of a list that comes in pages. */
import { findContextLimitIn } from "./context-limit.js";
import type { ListedModel } from "../types.js";

/** More than a person looks through; the largest router has some hundreds. A list that never ends is not read to its end. */
export const LISTED_MODELS_LIMIT = 2_000;
const MAX_ID_CHARACTERS = 512;
const MAX_NAME_CHARACTERS = 200;

/** Undefined for an entry without an id. `entry`: the vendor's own description, searched for a context window. */
export function readListed(id: unknown, name: unknown, entry: unknown): ListedModel | undefined {
  if (typeof id !== "string" || id === "" || id.length > MAX_ID_CHARACTERS) return undefined;
  const displayName = typeof name === "string" && name !== "" ? name.slice(0, MAX_NAME_CHARACTERS) : null;
  return { model: id, displayName, contextLimit: findContextLimitIn(entry) ?? null };
}

/** The first ones, each id once. */
export async function collectListed<Entry>(
  entries: AsyncIterable<Entry>,
  read: (entry: Entry) => ListedModel | undefined,
): Promise<ListedModel[]> {
  const found = new Map<string, ListedModel>();
  for await (const entry of entries) {
    const listed = read(entry);
    if (listed !== undefined && !found.has(listed.model)) found.set(listed.model, listed);
    if (found.size >= LISTED_MODELS_LIMIT) break;
  }
  return [...found.values()];
}
