/**
 * A browser's session in the form in which the HTTP layer passes it on like a token. Tokens in requests contain no
 * spaces, so a session cannot be sent as a token, which would bypass the check of the page's origin.
 */
const PREFIX = "session ";

export function presentSession(session: string): string {
  return PREFIX + session;
}

/** The session in a presented credential; null when it is a token. */
export function sessionOf(credential: string): string | null {
  return credential.startsWith(PREFIX) ? credential.slice(PREFIX.length) : null;
}
