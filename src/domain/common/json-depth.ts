/** Nesting limits of untrusted JSON. Pure. */

/**
 * Levels of arrays and objects. Deeper values break the recursion of databases, JSON libraries and vendors; no honest
 * arguments, results or schemas come near it.
 */
export const MAX_JSON_DEPTH = 100;

/**
 * The limit for tool call arguments: deeper ones are refused, with an error that the model reads. Lower than
 * `MAX_JSON_DEPTH`, to which stored JSON is truncated, so that truncated arguments are always refused.
 */
export const MAX_ARGUMENT_DEPTH = 64;

/** Whether `value` is nested more deeply than `limit`. Walks without recursion, so that no depth breaks it. */
export function isDeeperThan(value: unknown, limit: number = MAX_JSON_DEPTH): boolean {
  const pending: [value: object, depth: number][] = isContainer(value) ? [[value, 1]] : [];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [container, depth] = next;
    if (depth > limit) return true;
    for (const inner of Object.values(container)) if (isContainer(inner)) pending.push([inner, depth + 1]);
  }
  return false;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
