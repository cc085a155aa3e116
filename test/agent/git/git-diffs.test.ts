// Git watch reports what git itself reports, whatever the repository contains and however it is configured.
import { createHash } from "node:crypto";
import { chmod, chown, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commit, diffByHand, git, Listener, makeRepository, write } from "./git-support.js";
import { startTestAgent, type TestAgent } from "../support.js";
import { has } from "../../support/requirements.js";

let agent: TestAgent;
const listeners: Listener[] = [];
beforeAll(async () => {
  agent = await startTestAgent({ GIT_DIR: "/nowhere", GIT_EXTERNAL_DIFF: "/bin/false", GIT_PAGER: "false" });
});
afterAll(async () => {
  for (const listener of listeners) listener.close();
  await agent.close();
});

const at = (name: string) => join(agent.folder, name);

/** The repository as a new watch reports it. */
async function see(root: string) {
  const chatId = `chat-${listeners.length}`;
  const listener = await listenAt(root, chatId);
  return listener.repository(root);
}

async function listenAt(root: string, chatId: string): Promise<Listener> {
  const chat = agent.connection.forChat(chatId);
  const { id } = await chat.startProcess({ command: "true", workdir: root });
  await chat.processOutput({ id, wait: true });
  const listener = await Listener.open(agent.connection, chatId);
  listeners.push(listener);
  return listener;
}

const LINES = Array.from({ length: 200 }, (_, index) => `line ${index}\n`).join("");
const BINARY = Buffer.from([0, 1, 2, 3, 0, 255]);

test("[G9] staged, unstaged, deleted, renamed, binary and untracked files are shown as git shows them", async () => {
  const root = await makeRepository(at("all"), {
    "changed.txt": LINES,
    "staged.txt": LINES,
    "both.txt": LINES,
    "deleted.txt": LINES,
    "old name.txt": `old\n${LINES}`,
    "binary.bin": BINARY,
    "mode.sh": "#!/bin/sh\n",
    ".gitignore": "ignored\n",
  });
  await write(root, { "staged.txt": `${LINES}staged\n`, "both.txt": `${LINES}staged\n` });
  await git(root, "mv", "old name.txt", "new näme.txt");
  await git(root, "add", "--update");
  await write(root, {
    "changed.txt": LINES.replace("line 100", "LINE 100"),
    "both.txt": `${LINES}unstaged\n`,
    "binary.bin": Buffer.concat([BINARY, BINARY]),
    "untracked/ü ñ.txt": "new\n",
    "untracked/no end": "no newline",
    "empty file": "",
    "new.bin": BINARY,
    ignored: "x",
    "-dash": "-\n",
    'quo"te\ttab': "q\n",
    "crlf.txt": "a\r\nb\r\n",
  });
  await rm(join(root, "deleted.txt"));
  await chmod(join(root, "mode.sh"), 0o755);
  await write(root, { "run.sh": "#!/bin/sh\n" });
  await chmod(join(root, "run.sh"), 0o755);
  await symlink("nowhere", join(root, "dangling"));
  await makeRepository(join(root, "nested"));
  const seen = await see(root);
  expect(seen).toEqual({
    root,
    branch: "main",
    remoteOrigin: null,
    unifiedDiff: await diffByHand(root),
    isTruncated: false,
  });
  expect(seen.unifiedDiff).toContain("rename from old name.txt\nrename to new näme.txt\n");
});

test("[G9] before the first commit everything is new, staged or not", async () => {
  const root = await makeRepository(at("unborn"), {});
  await write(root, { "staged.txt": "one\n" });
  await git(root, "add", "--all");
  await write(root, { "staged.txt": "two\n", "untracked.txt": "three\n" });
  const { branch, unifiedDiff } = await see(root);
  const files = unifiedDiff.match(/^(?:diff --git|[+-](?![+-])).*$/gm);
  expect([branch, files]).toEqual([
    "main",
    ["diff --git a/staged.txt b/staged.txt", "+two", "diff --git a/untracked.txt b/untracked.txt", "+three"],
  ]);
});

test("[G9] without a branch and in the middle of a conflict there is still a diff", async () => {
  const root = await makeRepository(at("conflict"));
  await git(root, "switch", "--quiet", "--create", "other");
  await write(root, { "a.txt": "other\n" });
  await commit(root);
  await git(root, "switch", "--quiet", "--detach", "main");
  await write(root, { "a.txt": "mine\n" });
  await commit(root);
  await expect(git(root, "merge", "other")).rejects.toThrow("merge");
  const { branch, unifiedDiff } = await see(root);
  expect([branch, unifiedDiff]).toEqual([null, await diffByHand(root)]);
});

test("[G22] worktrees and submodules are repositories of their own", async () => {
  const library = await makeRepository(at("library"));
  const root = await makeRepository(at("project"));
  await git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "lib");
  await commit(root);
  await git(root, "worktree", "add", "--quiet", "-b", "side", at("side"));
  await write(at("side"), { "a.txt": "side\n" });
  await write(join(root, "lib"), { "a.txt": "changed in the submodule\n" });
  const seen = await Promise.all([root, join(root, "lib"), at("side")].map(see));
  expect(
    seen.map(({ root: repositoryPath, branch, unifiedDiff }) => [repositoryPath, branch, unifiedDiff]),
  ).toEqual([
    [root, "main", await diffByHand(root)],
    [join(root, "lib"), "main", await diffByHand(join(root, "lib"))],
    [at("side"), "side", await diffByHand(at("side"))],
  ]);
  expect(seen[0]?.unifiedDiff).toMatch(/^\+Subproject commit [0-9a-f]{40}-dirty$/m);
});

const HOSTILE_SETTINGS = {
  "color.ui": "always",
  "core.quotePath": "true",
  "core.abbrev": "20",
  "core.pager": "false",
  "core.fsmonitor": "touch MARK; false",
  "core.hooksPath": "hooks",
  "diff.external": "touch MARK; false",
  "diff.noprefix": "true",
  "diff.mnemonicPrefix": "true",
  "diff.context": "0",
  "diff.interHunkContext": "50",
  "diff.renames": "false",
  "diff.algorithm": "patience",
  "diff.suppressBlankEmpty": "true",
  "diff.orderFile": "order",
  "diff.relative": "true",
  "diff.submodule": "log",
  "diff.wsErrorHighlight": "all",
  "diff.upper.textconv": "touch MARK; cat",
  "status.showUntrackedFiles": "no",
  "status.renames": "true",
};

test("[G10] no setting of the repository changes the result, or runs a program", async () => {
  const root = await makeRepository(at("hostile"), {
    "ä old.txt": LINES,
    "b.txt": `\n${LINES}\n`,
    ".gitattributes": "*.txt diff=upper\n",
  });
  await git(root, "mv", "ä old.txt", "ä new.txt");
  await write(root, { "b.txt": `\n${LINES.replace("line 9\n", "line nine\n\n")}\n`, "new.txt": "\nnew\n" });
  const plain = await diffByHand(root);
  const mark = at("mark");
  for (const [name, value] of Object.entries(HOSTILE_SETTINGS)) {
    await git(root, "config", name, value.replace("MARK", mark));
  }
  await write(root, {
    "hooks/post-index-change": `#!/bin/sh\ntouch ${mark}\n`,
  });
  await chmod(join(root, "hooks/post-index-change"), 0o755);
  await write(root, { ".git/info/exclude": "hooks/\n" });
  const { unifiedDiff } = await see(root);
  expect(unifiedDiff).toBe(plain);
  await expect(stat(mark)).rejects.toThrow("ENOENT");
});

test.skipIf(!has("root"))(
  "[G10] another user's repository is looked into where the user's own git would",
  async () => {
    const root = await makeRepository(at("foreign"));
    await chown(root, 12_345, 12_345);
    await chown(join(root, ".git"), 12_345, 12_345);
    const chatId = "refused";
    const listener = await listenAt(root, chatId);
    const before = await listener.until(() => true);
    const home = at("home");
    await write(home, { ".gitconfig": `[safe]\n\tdirectory = ${root}\n[diff]\n\tnoprefix = true\n` });
    const trusting = await startTestAgent({ HOME: home, GIT_CONFIG_NOSYSTEM: "1" });
    try {
      const chat = trusting.connection.forChat(chatId);
      const { id } = await chat.startProcess({ command: "echo two > a.txt", workdir: root });
      await chat.processOutput({ id, wait: true });
      const trusted = await Listener.open(trusting.connection, chatId);
      const { unifiedDiff } = await trusted.repository(root);
      trusted.close();
      expect([before.repositories, unifiedDiff.split("\n")[0]]).toEqual([[], "diff --git a/a.txt b/a.txt"]);
    } finally {
      await trusting.close();
    }
  },
);

/** Every file below a folder, with its content. */
async function contentsOf(folder: string): Promise<Record<string, string>> {
  const names = await readdir(folder, { recursive: true });
  const contents: Record<string, string> = {};
  for (const name of names.sort()) {
    const path = join(folder, name);
    if (!(await stat(path)).isFile()) continue;
    contents[name] = createHash("sha256")
      .update(await readFile(path))
      .digest("hex");
  }
  return contents;
}

test("[G11] nothing is written into the repository, and another program's lock does not block", async () => {
  const root = await makeRepository(at("untouched"));
  await write(root, { "a.txt": "two\n", "b.txt": "new\n", "empty.txt": "" });
  await write(root, { ".git/index.lock": "" });
  const before = await contentsOf(join(root, ".git"));
  const { unifiedDiff } = await see(root);
  expect(await contentsOf(join(root, ".git"))).toEqual(before);
  await rm(join(root, ".git/index.lock"));
  expect(unifiedDiff).toBe(await diffByHand(root));
});

test("[G12] names of any bytes, links to folders and many files are all sent", async () => {
  const root = await makeRepository(at("odd"));
  await writeFile(Buffer.concat([Buffer.from(`${root}/bad-`), Buffer.from([0xff])]), "bad\n");
  await symlink("/etc", join(root, "link to folder"));
  await write(root, { "-": "a file called minus\n", "line\nbreak": "x\n" });
  const many = Array.from({ length: 6_000 }, (_, index) => [`many/${index}`, `${index}\n`] as const);
  await write(root, Object.fromEntries(many));
  const { unifiedDiff, isTruncated } = await see(root);
  const headers = unifiedDiff.match(/^diff --git .*$/gm)?.filter((line) => !line.includes(" a/many/"));
  expect({ headers, isTruncated, count: unifiedDiff.match(/^new file mode /gm)?.length }).toEqual({
    headers: [
      "diff --git a/- b/-",
      "diff --git a/bad-\uFFFD b/bad-\uFFFD",
      'diff --git "a/line\\nbreak" "b/line\\nbreak"',
      "diff --git a/link to folder b/link to folder",
    ],
    isTruncated: false,
    count: 6_004,
  });
});

test("[G12] bytes that are no text are replaced, and characters that JSON must escape come through", async () => {
  const root = await makeRepository(at("bytes"));
  const control = "\u0001\u001b[31m\u2028".repeat(60_000);
  await write(root, { "latin.txt": Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x0a]), "z-control.txt": control });
  const { unifiedDiff } = await see(root);
  expect(unifiedDiff).toBe(await diffByHand(root));
  expect(unifiedDiff).toContain("+caf\uFFFD\n");
});

const TOO_LARGE = "The diff is larger than 3 MiB; only the branch and the origin are shown.\n";
const tooLarge = { branch: "main", remoteOrigin: null, unifiedDiff: TOO_LARGE, isTruncated: true };

test("[G13] a diff of up to 3 MiB is sent whole, a larger one is replaced by a sentence", async () => {
  const root = await makeRepository(at("large"), { "a.txt": "one\n" });
  await write(root, { "a.txt": "two\n", "large.txt": "x".repeat(3 * 1024 * 1024) });
  const excess = Buffer.byteLength(await diffByHand(root)) - 3 * 1024 * 1024;
  const chatId = "large";
  await write(root, { "large.txt": "x".repeat(3 * 1024 * 1024 - excess) });
  const listener = await listenAt(root, chatId);
  const whole = await listener.repository(root);
  const byHand = await diffByHand(root);
  expect([whole.unifiedDiff === byHand, Buffer.byteLength(byHand), whole.isTruncated]).toEqual([
    true,
    3 * 1024 * 1024,
    false,
  ]);
  await write(root, { "large.txt": "x".repeat(3 * 1024 * 1024 - excess + 1) });
  expect(await listener.repository(root, ({ isTruncated }) => isTruncated)).toEqual({ root, ...tooLarge });
});

test("[G13] very large and very many files are a line, and the agent stays small", async () => {
  const root = await makeRepository(at("huge"));
  const chat = agent.connection.forChat("huge");
  const fill =
    "mkdir many && cd many && seq 1 20000 | xargs touch && cd .. && yes 'some text' | head -c 60000000 > big.txt";
  const { id } = await chat.startProcess({ command: fill, workdir: root });
  await chat.processOutput({ id, wait: true });
  const listener = await Listener.open(agent.connection, "huge");
  listeners.push(listener);
  const seen = await listener.repository(root);
  const { id: again } = await chat.startProcess({ command: "grep VmHWM /proc/$PPID/status", workdir: root });
  const { output } = await chat.processOutput({ id: again, wait: true });
  const peakMib = Number(/\d+/.exec(output)?.[0]) / 1024;
  expect([seen, peakMib > 0 && peakMib < 500]).toEqual([{ root, ...tooLarge }, true]);
});
