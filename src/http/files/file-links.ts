/**
 * Signed, expiring links to files, which work without a token: images in a page cannot send one. The signature covers the
 * file, the purpose and the expiry, with a key derived from the deployment's, so that every replica accepts it.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { encodeId } from "../../domain/common/ids.js";
import type { Clock } from "../../lib/clock.js";

/** A file's link stays the same for this long, so that browsers can cache it, and is valid for as long again. */
const STEP_MS = 15 * 60_000;

export type FileLinksDependencies = {
  /** The first key signs; signatures of all keys are accepted. */
  keys: readonly Uint8Array[];
  clock: Clock;
  /** Public URL of the server, without a trailing slash. */
  publicUrl(): string;
};

/** `invalid`: not signed by this deployment, or modified. */
export type LinkCheck = "valid" | "expired" | "invalid";

export class FileLinks {
  constructor(private readonly dependencies: FileLinksDependencies) {}

  /** A download link, valid for 15 to 30 minutes. */
  linkTo(fileId: string): string {
    const { clock } = this.dependencies;
    return this.#link(fileId, (Math.floor(clock.now() / STEP_MS) + 2) * STEP_MS, fileId);
  }

  /** An upload link. `expiresAt` in milliseconds since the epoch. */
  uploadTo(fileId: string, expiresAt: number): string {
    return this.#link(fileId, expiresAt, uploadOf(fileId));
  }

  /** Checks a download link; `expires` and `signature` are its query parameters. */
  check(fileId: string, expires: string, signature: string): LinkCheck {
    return this.#check(fileId, expires, signature);
  }

  /** Checks an upload link; the two kinds are not interchangeable. */
  checkUpload(fileId: string, expires: string, signature: string): LinkCheck {
    return this.#check(uploadOf(fileId), expires, signature);
  }

  #link(fileId: string, expiresAt: number, purpose: string): string {
    const [key] = this.dependencies.keys;
    if (key === undefined) throw new Error("no key to sign file links with");
    const expires = String(expiresAt);
    const query = new URLSearchParams({ expires, signature: signatureOf(key, purpose, expires) });
    return `${this.dependencies.publicUrl()}/files/${encodeId("file", fileId)}?${query}`;
  }

  #check(purpose: string, expires: string, signature: string): LinkCheck {
    const actual = Buffer.from(signature);
    const isSigned = this.dependencies.keys.some((key) => {
      const expected = Buffer.from(signatureOf(key, purpose, expires));
      return expected.length === actual.length && timingSafeEqual(expected, actual);
    });
    if (!isSigned) return "invalid";
    return Number(expires) > this.dependencies.clock.now() ? "valid" : "expired";
  }
}

/** Purpose of an upload link; no file id starts like this. */
function uploadOf(fileId: string): string {
  return `upload\n${fileId}`;
}

function signatureOf(key: Uint8Array, purpose: string, expires: string): string {
  return createHmac("sha256", key).update(`${purpose}\n${expires}`).digest("base64url");
}
