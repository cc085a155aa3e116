/** Nesting depth of untrusted JSON, measured without recursion, which could exhaust the stack. Pure. */

/** Whether objects or arrays are nested more than `limit` deep. Visits each value once. */
export function isDeeper(value: unknown, limit: number): boolean {
  const waiting: { value: unknown; depth: number }[] = [{ value, depth: 0 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next.value !== "object" || next.value === null) continue;
    if (next.depth === limit) return true;
    for (const inner of Object.values(next.value)) waiting.push({ value: inner, depth: next.depth + 1 });
  }
  return false;
}
