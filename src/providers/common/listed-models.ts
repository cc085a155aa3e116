/** Conversion of a vendor's list of models. Pure, except for reading a paginated list. */
import { findContextLimitIn } from "./context-limit.js";
import type { ListedModel } from "../types.js";

/** The largest router lists some hundreds; guards against an endless list. */
export const LISTED_MODELS_LIMIT = 2_000;
const MAX_ID_CHARACTERS = 512;
const MAX_NAME_CHARACTERS = 200;

/** Undefined for an entry without an id. `entry`: the vendor's own description, searched for a context window. */
export function readListed(id: unknown, name: unknown, entry: unknown): ListedModel | undefined {
  if (typeof id !== "string" || id === "" || id.length > MAX_ID_CHARACTERS) return undefined;
  const displayName = typeof name === "string" && name !== "" ? name.slice(0, MAX_NAME_CHARACTERS) : null;
  return { model: id, displayName, contextLimit: findContextLimitIn(entry) ?? null };
}

/** The first `LISTED_MODELS_LIMIT` models, each id once. */
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
