/**
 * Links to files that work without a token, for a while: images in a page cannot send one. A link names a file, what it
 * is for and when it ends, and is signed with a key that is derived from the deployment's, so every replica takes it.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { encodeId } from "../../domain/common/ids.js";
import type { Clock } from "../../lib/clock.js";

/** Within this time a file's link stays the same, so that browsers know it again; it then works as long once more. */
const STEP_MS = 15 * 60_000;

export type FileLinksParts = {
  /** The first signs; links of all are taken. */
  keys: readonly Uint8Array[];
  clock: Clock;
  /** Where browsers reach the server, without a slash at the end. */
  publicUrl(): string;
};

/** `expired`: it was good once. `bad`: nobody here made it, or something in it was changed. */
export type LinkCheck = "good" | "expired" | "bad";

export class FileLinks {
  constructor(private readonly parts: FileLinksParts) {}

  /** Good for 15 to 30 minutes. */
  linkTo(fileId: string): string {
    const { clock } = this.parts;
    return this.#link(fileId, (Math.floor(clock.now() / STEP_MS) + 2) * STEP_MS, fileId);
  }

  /** Where its bytes are put. `expiresAt` in milliseconds since the epoch. */
  uploadTo(fileId: string, expiresAt: number): string {
    return this.#link(fileId, expiresAt, uploadOf(fileId));
  }

  /** `expires` and `signature` as they came in the link. */
  check(fileId: string, expires: string, signature: string): LinkCheck {
    return this.#check(fileId, expires, signature);
  }

  /** The same for a link that bytes are put to: neither kind is good for the other. */
  checkUpload(fileId: string, expires: string, signature: string): LinkCheck {
    return this.#check(uploadOf(fileId), expires, signature);
  }

  #link(fileId: string, expiresAt: number, purpose: string): string {
    const [key] = this.parts.keys;
    if (key === undefined) throw new Error("Links cannot be signed without a key.");
    const expires = String(expiresAt);
    const query = new URLSearchParams({ expires, signature: signatureOf(key, purpose, expires) });
    return `${this.parts.publicUrl()}/files/${encodeId("file", fileId)}?${query}`;
  }

  #check(purpose: string, expires: string, signature: string): LinkCheck {
    const given = Buffer.from(signature);
    const isSigned = this.parts.keys.some((key) => {
      const right = Buffer.from(signatureOf(key, purpose, expires));
      return right.length === given.length && timingSafeEqual(right, given);
    });
    if (!isSigned) return "bad";
    return Number(expires) > this.parts.clock.now() ? "good" : "expired";
  }
}

/** No file's id begins like this. */
function uploadOf(fileId: string): string {
  return `upload\n${fileId}`;
}

function signatureOf(key: Uint8Array, purpose: string, expires: string): string {
  return createHmac("sha256", key).update(`${purpose}\n${expires}`).digest("base64url");
}
