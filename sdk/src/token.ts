/** Source of the access token. */
import { ParleyError } from "./parley-error.js";

/**
 * A token, or a function that fetches one before each connection and each call over HTTP. `isRefused`: the server refused
 * the last one, so do not return a cached one. `null` means that there is none: everything ends with `UNAUTHENTICATED`.
 * Streams treat a function that throws like a lost connection and call it again after a delay.
 */
export type TokenSource =
  string | ((request: { isRefused: boolean }) => string | null | Promise<string | null>);

/** The current token; throws `UNAUTHENTICATED` without one. */
export async function readToken(source: TokenSource, isRefused: boolean): Promise<string> {
  const token = typeof source === "string" ? source : await source({ isRefused });
  if (token === null) throw new ParleyError("UNAUTHENTICATED", "There is no access token.");
  return token;
}

export function refusedToken(cause: unknown): ParleyError {
  return new ParleyError("UNAUTHENTICATED", "The server refused the access token.", { cause });
}
