/** How deeply JSON from outside may be nested. Pure. */

/**
 * Lists and objects within each other. Deeper values break the recursion of databases, of JSON libraries and of vendors;
 * no honest arguments, results or schemas come near it.
 */
export const MAX_JSON_DEPTH = 100;

/**
 * The same of the arguments that a model writes: deeper ones are refused, with an error that the model reads. Below
 * `MAX_JSON_DEPTH`, to which what is kept of any JSON is cut: so arguments that were cut are always refused.
 */
export const MAX_ARGUMENT_DEPTH = 64;

/** Whether `value` is nested more deeply than `limit`. Walks without recursion, so that no depth breaks it. */
export function isDeeperThan(value: unknown, limit: number = MAX_JSON_DEPTH): boolean {
  const waiting: [value: object, depth: number][] = isContainer(value) ? [[value, 1]] : [];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [holder, depth] = next;
    if (depth > limit) return true;
    for (const inner of Object.values(holder)) if (isContainer(inner)) waiting.push([inner, depth + 1]);
  }
  return false;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
