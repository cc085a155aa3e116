/** Parser of remote addresses: the host and the project on it. Pure. */
import { readGitHost } from "./git-host.js";
import type { GitHostKind } from "./git-hosts.js";

/** `host` in the form of `readGitHost`; `path` as in `ada/greeter`, without `.git`. */
type GitOrigin = { host: string; path: string };

/** Longer than any real address; longer ones are not parsed. */
const MAX_ORIGIN_CHARACTERS = 2_048;
/** `git@github.com:ada/greeter.git`; a `/` before the colon makes it a path of this machine. */
const SCP_FORM = /^(?:[^\s/@:]+@)?(\[[0-9a-f:.]+\]|[^\s/@:]+):(?!\/\/)\/?(.+)$/i;
/** Names of users, groups and projects at all supported hosts. */
const SEGMENT = /^[\w.-]+$/;
/** Names under which hosts accept SSH on port 443. */
const SSH_ALIASES: Readonly<Record<string, string>> = {
  "ssh.github.com": "github.com",
  "altssh.gitlab.com": "gitlab.com",
};
const KNOWN_KINDS: Readonly<Record<string, GitHostKind>> = { "github.com": "github", "gitlab.com": "gitlab" };

/**
 * Parses HTTPS, SSH and git addresses. A host reached by SSH is assumed to serve its pages and API over HTTPS at the same
 * name. Null for paths, unknown schemes and addresses without a project.
 */
export function readGitOrigin(text: string): GitOrigin | null {
  const address = text.trim();
  if (address.length > MAX_ORIGIN_CHARACTERS) return null;
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(address)?.[1]?.toLowerCase();
  if (scheme === undefined) {
    const [, host = "", path = ""] = SCP_FORM.exec(address) ?? [];
    return host === "" ? null : originOf(host, path);
  }
  if (!URL.canParse(address)) return null;
  const url = new URL(address);
  switch (scheme) {
    case "https":
      return originOf(url.host, url.pathname);
    case "http":
      return originOf(`http://${url.host}`, url.pathname);
    case "ssh":
    case "git+ssh":
    case "git":
      // The port belongs to SSH or git, not to HTTPS.
      return originOf(url.hostname, url.pathname);
    default:
      return null;
  }
}

function originOf(hostText: string, pathText: string): GitOrigin | null {
  const host = readGitHost(SSH_ALIASES[hostText.toLowerCase()] ?? hostText);
  const segments = pathText
    .replace(/^\/+|\/+$/g, "")
    .replace(/\.git$/, "")
    .split("/");
  const isProject = segments.length >= 2 && segments.every((it) => SEGMENT.test(it) && !/^\.+$/.test(it));
  return host !== null && isProject ? { host, path: segments.join("/") } : null;
}

/** The kind of a well-known host; undefined for self-hosted ones. */
export function knownKindOf(host: string): GitHostKind | undefined {
  return KNOWN_KINDS[host];
}

/** The base URL of the host's pages, without a trailing slash. */
export function siteOf(host: string): string {
  return host.startsWith("http://") ? host : `https://${host}`;
}
