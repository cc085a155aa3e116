/** Hashes that identify content. */
import { createHash } from "node:crypto";

/** `sha256:` and 64 hexadecimal digits. */
export function hashOf(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}
