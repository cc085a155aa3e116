/** Where a repository comes from, without the secrets that people write into addresses. Pure. */

/** Over HTTP the name may be the token itself; over SSH it only says whose account it is. */
export function redactOrigin(origin: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(origin)) return origin;
  return origin.replace(/^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)@/i, (_whole, scheme: string, account: string) => {
    const isSsh = /ssh/i.test(scheme);
    const [name = ""] = account.split(":");
    return isSsh && name !== "" ? `${scheme}${name}@` : scheme;
  });
}
