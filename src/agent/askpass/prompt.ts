/** Parser for the prompts that git passes to an askpass program. Pure. */

/** Longer ones are not git's. */
const MAX_PROMPT_CHARACTERS = 4_096;
/** A DNS name has at most 253; the rest is for the port. */
const MAX_HOST_CHARACTERS = 260;
/** Never translated. The address has a path only when `credential.useHttpPath` is set. */
const PROMPT = /^(Username|Password) for '(https?):\/\/(.+)': ?$/;
/** Never in a host as git writes it; in a user name they are an attempt to be misread. */
const MISLEADING = /[\\?#%\s]/;

/** `site` is the origin: scheme, host, and port unless it is the usual one. */
export type CredentialPrompt = { wants: "username" | "password"; site: string };

/** Null for any other prompt, such as that for a key's passphrase, and for an ambiguous host. */
export function parsePrompt(prompt: string): CredentialPrompt | null {
  if (prompt.length > MAX_PROMPT_CHARACTERS) return null;
  const [, what, scheme, address = ""] = PROMPT.exec(prompt) ?? [];
  const host = hostOf(address);
  if (host === null || !URL.canParse(`${scheme}://${host}`)) return null;
  const site = new URL(`${scheme}://${host}`).origin;
  return { wants: what === "Username" ? "username" : "password", site };
}

/**
 * The host, unless the address can be read in another way. Older gits print user names decoded: an address with the
 * user `github.com/` at another host appears as `https://github.com/@evil.example`.
 */
function hostOf(address: string): string | null {
  const slash = address.indexOf("/");
  const authority = slash === -1 ? address : address.slice(0, slash);
  if (slash !== -1 && address.includes("@", slash)) return null;
  const at = authority.lastIndexOf("@");
  const host = authority.slice(at + 1);
  const isUnambiguous =
    host !== "" &&
    host.length <= MAX_HOST_CHARACTERS &&
    !MISLEADING.test(host) &&
    !/[\\?#]/.test(authority.slice(0, at + 1));
  return isUnambiguous ? host : null;
}
