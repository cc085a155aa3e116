/** Canonical form of git hosts, for storing and comparing. Pure. */

/** A DNS name has at most 253 characters; the rest is for a scheme and a port. */
const MAX_GIT_HOST_CHARACTERS = 270;

/**
 * Canonicalizes a host: `github.com`, `git.example:8443`: lower case, with the port unless it is 443. A host without TLS
 * is a different one, `http://git.example`; otherwise an attacker on the network could obtain the token of the encrypted
 * host. A leading `https://` and a trailing `/` are removed. Null when the text is no host.
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
