/** A repository's origin without the secrets that its URL may contain. Pure. */

/** Removes user name and password; over SSH the name stays, over HTTP it may be a token. */
export function redactOrigin(origin: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(origin)) return origin;
  return origin.replace(/^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)@/i, (_whole, scheme: string, account: string) => {
    const isSsh = /ssh/i.test(scheme);
    const [name = ""] = account.split(":");
    return isSsh && name !== "" ? `${scheme}${name}@` : scheme;
  });
}
