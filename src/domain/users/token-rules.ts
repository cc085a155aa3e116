/** Validation of new API tokens: never more rights than the credential that creates them. */
import { scopesOf, TOKEN_SCOPES, type TokenScope, type Viewer } from "./viewer.js";

const MAX_TOKEN_NAME_CHARACTERS = 100;

/** `expiresAt` in milliseconds since the epoch; absent = never. */
export type TokenRequest = { name: string; expiresAt?: number; scopes?: readonly TokenScope[] };
type AllowedToken = { name: string; expiresAt?: number; scopes: TokenScope[] };
type TokenProblem = { message: string; path: [keyof TokenRequest] };

/** The token to create, or the request's problem. `now` in milliseconds since the epoch. */
export function planToken(viewer: Viewer, request: TokenRequest, now: number): AllowedToken | TokenProblem {
  const name = request.name.trim();
  if (name === "" || name.length > MAX_TOKEN_NAME_CHARACTERS || name.includes("\u0000")) {
    return { message: `A name must have 1 to ${MAX_TOKEN_NAME_CHARACTERS} characters.`, path: ["name"] };
  }
  const own = scopesOf(viewer);
  const requested = request.scopes ?? own;
  // In canonical order, without duplicates.
  const scopes = TOKEN_SCOPES.filter((scope) => requested.includes(scope));
  if (scopes.length === 0) return { message: "A token needs at least one scope.", path: ["scopes"] };
  const missing = scopes.filter((scope) => !own.includes(scope));
  if (missing.length > 0) {
    const names = missing.join(", ").toUpperCase();
    return { message: `You cannot grant scopes that you do not have yourself: ${names}.`, path: ["scopes"] };
  }
  if (request.expiresAt !== undefined && request.expiresAt <= now) {
    return { message: "The expiry must be in the future.", path: ["expiresAt"] };
  }
  const expiresAt = Math.min(request.expiresAt ?? Infinity, maxExpiryOf(viewer));
  return expiresAt === Infinity ? { name, scopes } : { name, scopes, expiresAt };
}

/** Latest expiry: a stolen token must not outlive itself in a new one. A session does not limit it, since users sign in again. */
function maxExpiryOf(viewer: Viewer): number {
  return viewer.credential?.kind === "session" ? Infinity : (viewer.expiresAt ?? Infinity);
}
