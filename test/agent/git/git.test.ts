// Git watch by the rules of docs/agent/git.md: which repositories are sent, when, and with what content.
import { mkdir, rename, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commit, diffByHand, git, Listener, makeRepository, write } from "./git-support.js";
import { startTestAgent, type TestAgent } from "../support.js";

let agent: TestAgent;
const listeners: Listener[] = [];
beforeAll(async () => {
  agent = await startTestAgent();
});
afterAll(async () => {
  for (const listener of listeners) listener.close();
  await agent.close();
});

let lastChat = 0;
function newChat(): string {
  lastChat += 1;
  return `chat-${lastChat}`;
}

async function listen(chatId: string): Promise<Listener> {
  const listener = await Listener.open(agent.connection, chatId);
  listeners.push(listener);
  return listener;
}

/** Runs a command of the chat to its end. */
async function execute(chatId: string, workdir: string, command = "true", ancestors: string[] = []) {
  const chat = agent.connection.forChat(chatId, ancestors);
  const { id } = await chat.startProcess({ command, workdir });
  await chat.processOutput({ id, wait: true });
}

const at = (name: string) => join(agent.folder, name);
const clean = { branch: "main", remoteOrigin: null, unifiedDiff: "", isTruncated: false };

test("[G3] a chat that has done nothing yet shows the repository of the agent's own directory", async () => {
  await git(agent.folder, "init", "--quiet", "--initial-branch=main");
  try {
    const listener = await listen(newChat());
    expect(await listener.repository(agent.folder)).toEqual({ root: agent.folder, ...clean });
  } finally {
    await rm(at(".git"), { recursive: true });
  }
});

test.concurrent("[G2] [G5] without a repository the watch reports that once, and then nothing", async () => {
  const quiet = await listen(newChat());
  await quiet.until(({ repositories }) => repositories.length === 0);
  // Meanwhile another watch with changes completes several scans.
  const root = await makeRepository(at("busy"));
  const chatId = newChat();
  const busy = await listen(chatId);
  await busy.until(() => true);
  await execute(chatId, root);
  await busy.repository(root);
  await busy.untilTrue(() => busy.scans.length >= 3);
  expect(quiet.messages).toEqual([
    { type: "ready", hasGit: true },
    { type: "scanned", at: expect.any(String) as string, answers: 0 },
  ]);
});

test.concurrent(
  "[G3] [G4] what a chat's commands, writes and edits touch is sent to it and its ancestors alone",
  async () => {
    const roots = await Promise.all(
      ["ran", "wrote", "edited", "foreign"].map((name) => makeRepository(at(name))),
    );
    const [ran = "", wrote = "", edited = "", unrelated = ""] = roots;
    const [child, parent, other] = [newChat(), newChat(), newChat()];
    const watches = await Promise.all([child, parent, other].map(listen));
    await execute(child, ran, "true", [parent]);
    const chat = agent.connection.forChat(child, [parent]);
    await chat.writeFile({ path: join(wrote, "new/deep/file.txt"), content: "new\n" });
    await chat.editFiles({
      files: [{ path: join(edited, "a.txt"), edits: [{ oldText: "one", newText: "two" }] }],
    });
    await execute(other, unrelated);
    const [own, above, beside] = watches as [Listener, Listener, Listener];
    const all = [edited, ran, wrote].sort();
    await Promise.all([own, above].map((it) => it.until(({ repositories }) => repositories.length === 3)));
    await beside.until(({ repositories }) => repositories.length === 1);
    expect([own, above, beside].map((it) => it.roots())).toEqual([all, all, [unrelated]]);
  },
);

test.concurrent("[G5] [G6] what happens before and while a watch begins is in it", async () => {
  const [early, late] = await Promise.all(["early", "late"].map((name) => makeRepository(at(name))));
  const chatId = newChat();
  await execute(chatId, early ?? "");
  const opening = listen(chatId);
  await execute(chatId, late ?? "");
  const listener = await opening;
  await listener.until(({ repositories }) => repositories.length === 2);
  expect(listener.roots()).toEqual([early, late]);
});

test.concurrent(
  "[G4] the innermost repository counts, once, by its true path; folders in none are ignored",
  async () => {
    const outer = await makeRepository(at("outer"));
    const inner = await makeRepository(at("outer/inner"));
    await mkdir(join(outer, "sub/deep"), { recursive: true });
    await mkdir(at("plain/.git"), { recursive: true });
    await symlink(inner, at("link"));
    const chatId = newChat();
    for (const folder of [join(outer, "sub"), outer, at("link"), at("plain")]) await execute(chatId, folder);
    await execute(chatId, join(outer, "sub/deep"), "rm -rf ../../sub");
    const listener = await listen(chatId);
    await listener.until(({ repositories }) => repositories.length > 0);
    expect(listener.roots()).toEqual([outer, inner]);
  },
);

test.concurrent(
  "[G6] a busy chat is scanned once a second at most, and its last change is sent",
  async () => {
    const root = await makeRepository(at("hurried"));
    const chatId = newChat();
    const listener = await listen(chatId);
    await listener.until(() => true);
    for (let count = 0; count < 40; count += 1) {
      await agent.connection.forChat(chatId).writeFile({ path: join(root, "a.txt"), content: `${count}\n` });
    }
    await listener.repository(root, ({ unifiedDiff }) => unifiedDiff.endsWith("+39\n"));
    const times = listener.scans.map(({ scannedAt }) => scannedAt);
    // A timer may be a little early.
    const tooSoon = times.filter((time, index) => index > 0 && time - (times[index - 1] ?? 0) < 990);
    expect([tooSoon, times.length < 40]).toEqual([[], true]);
  },
);

test.concurrent("[G4] of very many repositories the first 32 are sent", async () => {
  const chatId = newChat();
  const many = Array.from({ length: 35 }, (_, index) => at(`many/${String(index).padStart(2, "0")}`));
  for (const root of many) {
    await makeRepository(root, {});
    await agent.connection.forChat(chatId).writeFile({ path: join(root, "a.txt"), content: "a\n" });
  }
  const listener = await listen(chatId);
  await listener.until(() => true);
  expect(listener.roots()).toEqual(many.slice(0, 32));
});

test.concurrent(
  "[G7] [G8] [G21] other programs' changes are noticed; only changes are sent, and every scan has its time",
  async () => {
    const [root, still] = await Promise.all(["polled", "still"].map((name) => makeRepository(at(name))));
    const chatId = newChat();
    for (const folder of [root, still]) await execute(chatId, folder ?? "");
    const listener = await listen(chatId);
    await listener.until(({ repositories }) => repositories.length === 2);
    await write(root ?? "", { "a.txt": "two\n" });
    const { unifiedDiff } = await listener.repository(root ?? "", (it) => it.unifiedDiff !== "");
    expect(unifiedDiff).toBe(await diffByHand(root ?? ""));
    await git(root ?? "", "switch", "--quiet", "--create", "other");
    await listener.repository(root ?? "", ({ branch }) => branch === "other");
    await git(root ?? "", "remote", "add", "origin", "https://ada:secret@host.example/a.git");
    const { remoteOrigin } = await listener.repository(root ?? "", (it) => it.remoteOrigin !== null);
    const updatedRoots = listener.messages.flatMap((it) => (it.type === "repository" ? [it.root] : []));
    const times = listener.scans.map(({ scannedAt }) => scannedAt);
    expect({ remoteOrigin, updatedRoots, times }).toEqual({
      remoteOrigin: "https://host.example/a.git",
      updatedRoots: [root, still, root, root, root],
      times: [...new Set(times)].sort((a, b) => a - b),
    });
  },
);

test.concurrent(
  "[G14] a removed repository is reported once, and sent again when it comes back",
  async () => {
    const retained = await makeRepository(at("kept"));
    const root = await makeRepository(at("fleeting"));
    const chatId = newChat();
    for (const folder of [retained, root]) await execute(chatId, folder);
    const listener = await listen(chatId);
    await listener.repository(root);
    await rename(join(root, ".git"), at("away"));
    await listener.until(({ repositories }) => repositories.length === 1);
    const scans = listener.scans.length;
    await listener.untilTrue(() => listener.scans.length > scans);
    const removals = listener.messages.filter(({ type }) => type === "removed");
    await rename(at("away"), join(root, ".git"));
    await listener.repository(root);
    expect(removals).toEqual([{ type: "removed", root }]);
  },
);

test.concurrent("[G14] a worktree whose repository was removed is removed as well", async () => {
  const main = await makeRepository(at("main"));
  await git(main, "worktree", "add", "--quiet", at("tree"));
  const chatId = newChat();
  await execute(chatId, at("tree"));
  const listener = await listen(chatId);
  const { branch } = await listener.repository(at("tree"));
  await rm(main, { recursive: true });
  await listener.until(({ repositories }) => repositories.length === 0);
  expect(branch).toBe("tree");
});

test.concurrent("[G15] while a repository cannot be scanned its last state remains", async () => {
  const root = await makeRepository(at("broken"));
  const chatId = newChat();
  await execute(chatId, root);
  const listener = await listen(chatId);
  await listener.repository(root);
  await rename(join(root, ".git/HEAD"), at("HEAD"));
  listener.refresh(1);
  await listener.untilTrue(() => listener.messages.some((it) => it.type === "scanned" && it.answers === 1));
  const meanwhile = listener.scans.at(-1)?.repositories;
  await rename(at("HEAD"), join(root, ".git/HEAD"));
  await write(root, { "a.txt": "two\n" });
  await listener.repository(root, ({ unifiedDiff }) => unifiedDiff !== "");
  expect(meanwhile).toEqual([{ root, ...clean }]);
});

test.concurrent("[G16] a refresh sends all states again, scanned after the request", async () => {
  const root = await makeRepository(at("refreshed"));
  const chatId = newChat();
  await execute(chatId, root);
  const listener = await listen(chatId);
  await listener.repository(root);
  await write(root, { "a.txt": "two\n" });
  listener.refresh(7);
  const answered = () => listener.messages.some((it) => it.type === "scanned" && it.answers === 7);
  await listener.untilTrue(answered);
  expect(listener.scans.at(-1)?.repositories).toEqual([
    { root, ...clean, unifiedDiff: await diffByHand(root) },
  ]);
});

test.concurrent(
  "[G23] chats in one repository see the same, and a commit empties the diff of all of them",
  async () => {
    const root = await makeRepository(at("shared"));
    const chats = Array.from({ length: 8 }, newChat);
    const watches = await Promise.all(chats.map(listen));
    await Promise.all(chats.map((chatId) => execute(chatId, root, `echo ${chatId} >> a.txt`)));
    const byHand = await diffByHand(root);
    await Promise.all(watches.map((it) => it.repository(root, ({ unifiedDiff }) => unifiedDiff === byHand)));
    await commit(root);
    await Promise.all(watches.map((it) => it.repository(root, ({ unifiedDiff }) => unifiedDiff === "")));
    expect(watches.map((it) => it.roots())).toEqual(chats.map(() => [root]));
  },
);
