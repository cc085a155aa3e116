/** Names of external tools, made valid for every vendor and unique. Pure. */
import { createHash } from "node:crypto";

/** The strictest vendor's limit; some also require a letter or `_` at the beginning. */
const MAX_NAME_CHARACTERS = 64;
const HASH_CHARACTERS = 8;

/**
 * Maps original names to sanitized ones. A valid name is unchanged unless it is in `reserved`. The result does not depend
 * on the order of the names.
 */
export function sanitizedNames(
  names: readonly string[],
  reserved: readonly string[] = [],
): Map<string, string> {
  const isReserved = new Set(reserved);
  const isUsable = (name: string) => validName(name) === name && !isReserved.has(name);
  const sorted = [...new Set(names)].sort();
  const taken = new Set([...reserved, ...sorted.filter(isUsable)]);
  const sanitized = new Map(sorted.filter(isUsable).map((name) => [name, name]));
  for (const name of sorted) {
    if (sanitized.has(name)) continue;
    const valid = validName(name);
    const unique = taken.has(valid) ? withHash(valid, name) : valid;
    taken.add(unique);
    sanitized.set(name, unique);
  }
  return sanitized;
}

function validName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_-]/g, "_");
  const prefixed = /^[A-Za-z_]/.test(plain) ? plain : `_${plain}`;
  return prefixed.length <= MAX_NAME_CHARACTERS ? prefixed : withHash(prefixed, name);
}

/** The hash is of the original name: names that become alike stay distinct. */
function withHash(valid: string, name: string): string {
  const hash = createHash("sha256").update(name).digest("hex").slice(0, HASH_CHARACTERS);
  return `${valid.slice(0, MAX_NAME_CHARACTERS - HASH_CHARACTERS - 1)}_${hash}`;
}
