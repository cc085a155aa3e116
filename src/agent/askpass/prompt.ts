/** What git asks an askpass program. Pure. */

/** Longer ones are not git's. */
const MAX_PROMPT_CHARACTERS = 4_096;
/** A DNS name has at most 253; the rest is for the port. */
const MAX_HOST_CHARACTERS = 260;
/** Never translated. The address has a path only when `credential.useHttpPath` is set. */
const PROMPT = /^(Username|Password) for '(https?):\/\/(.+)': ?$/;
/** Not in a host's name as git writes it; in a user name they mean that somebody wants to be misread. */
const MISLEADING = /[\\?#%\s]/;

/** `site` is the origin: scheme, host, and port unless it is the usual one. */
export type CredentialPrompt = { wants: "username" | "password"; site: string };

/** Null for any other question, such as that for the passphrase of a key, and for one whose host is not sure. */
export function parsePrompt(prompt: string): CredentialPrompt | null {
  if (prompt.length > MAX_PROMPT_CHARACTERS) return null;
  const [, what, scheme, address = ""] = PROMPT.exec(prompt) ?? [];
  const host = hostOf(address);
  if (host === null || !URL.canParse(`${scheme}://${host}`)) return null;
  const site = new URL(`${scheme}://${host}`).origin;
  return { wants: what === "Username" ? "username" : "password", site };
}

/**
 * Older gits write user names decoded: whoever made an address with the user `github.com/` at another host would be
 * asked for as `https://github.com/@evil.example`. So a host counts only when there is no other way to read it.
 */
function hostOf(address: string): string | null {
  const slash = address.indexOf("/");
  const authority = slash === -1 ? address : address.slice(0, slash);
  if (slash !== -1 && address.includes("@", slash)) return null;
  const at = authority.lastIndexOf("@");
  const host = authority.slice(at + 1);
  const isSure =
    host !== "" &&
    host.length <= MAX_HOST_CHARACTERS &&
    !MISLEADING.test(host) &&
    !/[\\?#]/.test(authority.slice(0, at + 1));
  return isSure ? host : null;
}
