/** Names of other people's tools → names that every vendor takes, each once. Pure. */
import { createHash } from "node:crypto";

/** The strictest vendor's limit; some also want a letter or `_` at the beginning. */
const MAX_NAME_CHARACTERS = 64;
const HASH_CHARACTERS = 8;

/**
 * Original name → offered name. A name that is fit stays unless it is in `reserved`; the same names give the same result
 * in any order.
 */
export function sanitizedNames(
  names: readonly string[],
  reserved: readonly string[] = [],
): Map<string, string> {
  const isReserved = new Set(reserved);
  const isFit = (name: string) => fitName(name) === name && !isReserved.has(name);
  const sorted = [...new Set(names)].sort();
  const taken = new Set([...reserved, ...sorted.filter(isFit)]);
  const offered = new Map(sorted.filter(isFit).map((name) => [name, name]));
  for (const name of sorted) {
    if (offered.has(name)) continue;
    const fit = fitName(name);
    const unique = taken.has(fit) ? withHash(fit, name) : fit;
    taken.add(unique);
    offered.set(name, unique);
  }
  return offered;
}

function fitName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_-]/g, "_");
  const begun = /^[A-Za-z_]/.test(plain) ? plain : `_${plain}`;
  return begun.length <= MAX_NAME_CHARACTERS ? begun : withHash(begun, name);
}

/** The hash is of the name as it was: names that look alike stay apart. */
function withHash(fit: string, name: string): string {
  const hash = createHash("sha256").update(name).digest("hex").slice(0, HASH_CHARACTERS);
  return `${fit.slice(0, MAX_NAME_CHARACTERS - HASH_CHARACTERS - 1)}_${hash}`;
}
