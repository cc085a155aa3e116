/** What a remote's address says: which host, and which project there. Pure. */
import { readGitHost } from "./git-host.js";
import type { GitHostKind } from "./git-hosts.js";

/** `host` as `readGitHost` writes it; `path` as in `ada/greeter`, without `.git`. */
export type GitOrigin = { host: string; path: string };

/** Longer than any; what is longer is not looked at. */
const MAX_ORIGIN_CHARACTERS = 2_048;
/** `git@github.com:ada/greeter.git`; a `/` before the colon makes it a path of this machine. */
const SCP_FORM = /^(?:[^\s/@:]+@)?(\[[0-9a-f:.]+\]|[^\s/@:]+):(?!\/\/)\/?(.+)$/i;
/** Names of people, groups and projects, at all hosts that we know. */
const SEGMENT = /^[\w.-]+$/;
/** Where some hosts take SSH on the port of HTTPS. */
const SSH_ALIASES: Readonly<Record<string, string>> = {
  "ssh.github.com": "github.com",
  "altssh.gitlab.com": "gitlab.com",
};
const KNOWN_KINDS: Readonly<Record<string, GitHostKind>> = { "github.com": "github", "gitlab.com": "gitlab" };

/**
 * Of HTTPS, SSH and git addresses. Where a host is reached by SSH its pages and its API are at the same name over HTTPS.
 * Null for paths, unknown schemes and whatever names no project.
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
      // The port is that of the other protocol.
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

/** Without asking it; undefined for hosts of one's own. */
export function knownKindOf(host: string): GitHostKind | undefined {
  return KNOWN_KINDS[host];
}

/** Where its pages are, without a slash at the end. */
export function siteOf(host: string): string {
  return host.startsWith("http://") ? host : `https://${host}`;
}
