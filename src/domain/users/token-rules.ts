/** What a new token may be: no more than what its maker has shown is good for. */
import { scopesOf, TOKEN_SCOPES, type TokenScope, type Viewer } from "./viewer.js";

export const MAX_TOKEN_NAME_CHARACTERS = 100;

/** `expiresAt` in milliseconds since the epoch; absent = never. */
export type TokenRequest = { name: string; expiresAt?: number; scopes?: readonly TokenScope[] };
export type AllowedToken = { name: string; expiresAt?: number; scopes: TokenScope[] };
export type TokenProblem = { message: string; path: [keyof TokenRequest] };

/** The token as it will be made, or what is wrong with the wish. `now` in milliseconds since the epoch. */
export function planToken(viewer: Viewer, wish: TokenRequest, now: number): AllowedToken | TokenProblem {
  const name = wish.name.trim();
  if (name === "" || name.length > MAX_TOKEN_NAME_CHARACTERS || name.includes("\u0000")) {
    return { message: `A name has 1 to ${MAX_TOKEN_NAME_CHARACTERS} characters.`, path: ["name"] };
  }
  const own = scopesOf(viewer);
  const wished = wish.scopes ?? own;
  // In their usual order, each once.
  const scopes = TOKEN_SCOPES.filter((scope) => wished.includes(scope));
  if (scopes.length === 0) return { message: "A token needs at least one scope.", path: ["scopes"] };
  const missing = scopes.filter((scope) => !own.includes(scope));
  if (missing.length > 0) {
    const names = missing.join(", ").toUpperCase();
    return { message: `You cannot give what you have not got yourself here: ${names}.`, path: ["scopes"] };
  }
  if (wish.expiresAt !== undefined && wish.expiresAt <= now) {
    return { message: "The time is past.", path: ["expiresAt"] };
  }
  const expiresAt = Math.min(wish.expiresAt ?? Infinity, lifeOf(viewer));
  return expiresAt === Infinity ? { name, scopes } : { name, scopes, expiresAt };
}

/** A stolen token must not live on in one that it has made; a session is the person, who may leave and come again. */
function lifeOf(viewer: Viewer): number {
  return viewer.credential?.kind === "session" ? Infinity : (viewer.expiresAt ?? Infinity);
}
