/**
 * A browser's session as the doors hand it on in the place of a token. Tokens that somebody sends have no spaces in
 * them, so nobody can send a session as one: it would not be asked for the page that it came from.
 */
const PREFIX = "session ";

export function presentSession(session: string): string {
  return PREFIX + session;
}

/** Null for anything that is no session. */
export function sessionOf(shown: string): string | null {
  return shown.startsWith(PREFIX) ? shown.slice(PREFIX.length) : null;
}
