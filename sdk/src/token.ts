/** Where the access token comes from. */
import { ParleyError } from "./parley-error.js";

/**
 * A token, or what fetches one before each connection and each call over HTTP. `isRefused` says that the server did
 * not take the last one: do not answer from a cache. `null` means that there is none: everything ends with
 * `UNAUTHENTICATED`. A function that throws is asked again, by streams after a while, like a lost connection.
 */
export type TokenSource =
  string | ((occasion: { isRefused: boolean }) => string | null | Promise<string | null>);

/** A token to show to the server now. */
export async function readToken(source: TokenSource, isRefused: boolean): Promise<string> {
  const token = typeof source === "string" ? source : await source({ isRefused });
  if (token === null) throw new ParleyError("UNAUTHENTICATED", "There is no access token.");
  return token;
}

export function refusedToken(cause: unknown): ParleyError {
  return new ParleyError("UNAUTHENTICATED", "The server does not take the access token.", { cause });
}
