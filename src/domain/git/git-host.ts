/** How git hosts are written: one form for each, to keep and to compare. Pure. */

/** A DNS name has at most 253 characters; the rest is for a scheme and a port. */
const MAX_GIT_HOST_CHARACTERS = 270;

/**
 * `github.com`, `git.example:8443`: lower case, with the port unless it is 443. A host that is spoken to without TLS is
 * another one, `http://git.example`: else who sits on the way could ask for the token of the encrypted one. An
 * `https://` before it and one `/` behind it are taken away. Null when the text names no host.
 */
export function readGitHost(text: string): string | null {
  const trimmed = text.trim();
  if (trimmed.length > MAX_GIT_HOST_CHARACTERS) return null;
  const address = /^https?:\/\//i.test(trimmed) ? trimmed : `https://${trimmed}`;
  if (!URL.canParse(address)) return null;
  const { protocol, host, username, password, pathname, search, hash } = new URL(address);
  if (host === "" || pathname !== "/" || [username, password, search, hash].some((it) => it !== ""))
    return null;
  return protocol === "http:" ? `http://${host}` : host;
}
