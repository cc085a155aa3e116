// What some tests need that not every machine has. A test asks `has(...)` and is skipped without it; the run's last
// lines name what was missing and the command that enables it.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";

/** Debian's Chromium; Playwright's own browsers are not installed. */
export const CHROMIUM = "/usr/bin/chromium";
/** The MCP conformance suite runs on this version of Node or a newer one. */
export const CONFORMANCE_NODE = 22;
export const DOCKER_HOST = process.env["PARLEY_TEST_DOCKER_HOST"] ?? "unix:///var/run/docker.sock";
/** Make a process namespace of which the first process is the one that is started in it. */
export const PID_NAMESPACE_OPTIONS = ["--pid", "--fork", "--mount-proc", "--kill-child"] as const;

type Requirement = {
  isMet(): boolean;
  /** How to get it, as a command or as the beginning of one. */
  enable: string;
};

const isRoot = process.getuid?.() === 0;

const requirements = {
  redis: { isMet: () => runs("redis-server", "--version"), enable: "apt-get install redis-server" },
  chromium: { isMet: () => existsSync(CHROMIUM), enable: "apt-get install chromium" },
  ripgrep: { isMet: () => runs("rg", "--version"), enable: "apt-get install ripgrep" },
  docker: {
    isMet: () => !DOCKER_HOST.startsWith("unix://") || existsSync(DOCKER_HOST.slice("unix://".length)),
    enable: "apt-get install docker.io, or PARLEY_TEST_DOCKER_HOST=tcp://… npm test",
  },
  kubernetes: {
    isMet: () => process.env["PARLEY_TEST_KUBECONFIG"] !== undefined,
    enable: "PARLEY_TEST_KUBECONFIG=~/.kube/config npm test",
  },
  "newer-node": {
    isMet: () => nodeVersion(process.env["PARLEY_TEST_NODE"]) >= CONFORMANCE_NODE,
    enable: `PARLEY_TEST_NODE=<node ${CONFORMANCE_NODE} or newer> npm test`,
  },
  root: { isMet: () => isRoot, enable: "sudo npm test" },
  "not-root": { isMet: () => !isRoot, enable: "npm test as a user who is not root" },
  "network-namespaces": {
    isMet: () =>
      runs("ip", "netns", "add", `parley-try-${process.pid}`) &&
      runs("ip", "netns", "del", `parley-try-${process.pid}`),
    enable: "apt-get install iproute2, and sudo npm test",
  },
  "process-namespaces": {
    isMet: () => runs("unshare", ...PID_NAMESPACE_OPTIONS, "bash", "-c", "true"),
    enable: "sudo npm test, where namespaces are allowed",
  },
} satisfies Record<string, Requirement>;

const known = new Map<string, boolean>();

/** Found out once per process. */
export function has(name: keyof typeof requirements): boolean {
  const met = known.get(name) ?? requirements[name].isMet();
  known.set(name, met);
  return met;
}

/** One line per requirement that this machine does not meet; `name` is padded for reading. */
export function missingRequirements(): string[] {
  return (Object.keys(requirements) as (keyof typeof requirements)[])
    .filter((name) => !has(name))
    .map((name) => `  ${name.padEnd(20)}${requirements[name].enable}`);
}

/** The major version of a Node program; of the running one when none is named, 0 when it cannot be run. */
function nodeVersion(program = process.execPath): number {
  try {
    return Number(execFileSync(program, ["-p", "process.versions.node.split('.')[0]"], { encoding: "utf8" }));
  } catch {
    return 0;
  }
}

function runs(program: string, ...words: string[]): boolean {
  try {
    execFileSync(program, words, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
