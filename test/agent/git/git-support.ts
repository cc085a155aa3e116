// Fixtures for tests of git watch: repositories beside an agent, and a listener that assembles its messages.
import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { GitRepository, GitSnapshot } from "../../../src/domain/git/git-snapshot.js";
import type {
  AgentConnection,
  AgentGitWatch,
  GitWatchMessage,
} from "../../../src/workspaces/agent-client/agent-connection.js";
import { GitSnapshotMerger } from "../../../src/workspaces/agent-client/git-snapshot-merge.js";

const run = promisify(execFile);
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

export const GIT_ENVIRONMENT = {
  PATH: process.env["PATH"],
  HOME: "/nonexistent",
  LC_ALL: "C",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "Ada Example",
  GIT_AUTHOR_EMAIL: "ada@example.com",
  GIT_COMMITTER_NAME: "Ada Example",
  GIT_COMMITTER_EMAIL: "ada@example.com",
};

/** Runs git directly; resolves with its output. Rejects when it fails, except when it only found a difference. */
export async function git(folder: string, ...input: string[]): Promise<string> {
  const options = {
    cwd: folder,
    env: GIT_ENVIRONMENT,
    encoding: "latin1",
    maxBuffer: MAX_OUTPUT_BYTES,
  } as const;
  try {
    return Buffer.from((await run("git", input, options)).stdout, "latin1").toString("utf8");
  } catch (error) {
    const { code, stdout } = error as { code?: number; stdout?: string };
    if (input.includes("--no-index") && code === 1)
      return Buffer.from(stdout ?? "", "latin1").toString("utf8");
    throw error;
  }
}

/** The complete diff as git prints it, with untracked files one by one. */
export async function diffByHand(folder: string): Promise<string> {
  const plain = ["-c", "core.quotePath=false", "diff"];
  const listed = await git(folder, "ls-files", "-z", "--others", "--exclude-standard");
  const untracked = listed.split("\0").filter((name) => name !== "" && !name.endsWith("/"));
  const diffs = [await git(folder, ...plain, "HEAD")];
  for (const name of untracked)
    diffs.push(await git(folder, ...plain, "--no-index", "--", "/dev/null", name));
  return diffs.join("");
}

export async function write(folder: string, files: Record<string, string | Buffer>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
}

export async function commit(folder: string, ...more: string[]): Promise<void> {
  await git(folder, "add", "--all");
  await git(folder, "commit", "--quiet", "--message=A commit", ...more);
}

/** A repository with one commit of these files, or none without files. */
export async function makeRepository(
  folder: string,
  files: Record<string, string | Buffer> = { "a.txt": "one\n" },
): Promise<string> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await git(folder, "init", "--quiet", "--initial-branch=main");
  await write(folder, files);
  if (Object.keys(files).length > 0) await commit(folder);
  return folder;
}

/** One watch and all messages it has sent. */
export class Listener {
  readonly messages: GitWatchMessage[] = [];
  readonly scans: GitSnapshot[] = [];
  isLost = false;
  #watch: AgentGitWatch | undefined;
  readonly #merger = new GitSnapshotMerger();
  #wake: () => void = () => undefined;

  static async open(agent: AgentConnection, chatId: string): Promise<Listener> {
    const listener = new Listener();
    listener.#watch = await agent.forChat(chatId).watchGit({
      onMessage: (message) => listener.#hear(message),
      onLost: () => {
        listener.isLost = true;
        listener.#wake();
      },
    });
    return listener;
  }

  /** Waits for a snapshot that fulfils the predicate. */
  async until(predicate: (snapshot: GitSnapshot) => boolean): Promise<GitSnapshot> {
    for (;;) {
      const newest = this.scans.at(-1);
      if (newest && predicate(newest)) return newest;
      await this.#next();
    }
  }

  async untilTrue(predicate: () => boolean): Promise<void> {
    while (!predicate()) await this.#next();
  }

  /** Waits until one repository fulfils the predicate. */
  async repository(
    root: string,
    predicate: (it: GitRepository) => boolean = () => true,
  ): Promise<GitRepository> {
    const of = (snapshot: GitSnapshot) => snapshot.repositories.find((it) => it.root === root);
    const found = await this.until((snapshot) => {
      const repository = of(snapshot);
      return repository !== undefined && predicate(repository);
    });
    return of(found) as GitRepository;
  }

  roots(): string[] {
    return this.scans.at(-1)?.repositories.map(({ root }) => root) ?? [];
  }

  refresh(id: number): void {
    this.#watch?.refresh(id);
  }

  close(): void {
    this.#watch?.close();
  }

  #hear(message: GitWatchMessage): void {
    this.messages.push(message);
    const scan = this.#merger.apply(message);
    if (scan) this.scans.push(scan.snapshot);
    this.#wake();
  }

  #next(): Promise<void> {
    if (this.isLost) throw new Error("The watch was lost.");
    return new Promise((resolve) => (this.#wake = resolve));
  }
}
