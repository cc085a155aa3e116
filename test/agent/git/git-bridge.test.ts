// The server's side of git watch, with real agents: one watch per chat, open while it has subscribers.
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { GitSnapshot } from "../../../src/domain/git/git-snapshot.js";
import { GitWatches, type GitWatchesDependencies } from "../../../src/services/git/git-watches.js";
import type { EventStream } from "../../../src/events/common/event-stream.js";
import { systemClock } from "../../../src/lib/clock.js";
import { createLog } from "../../../src/lib/log.js";
import type { AgentConnection } from "../../../src/workspaces/agent-client/agent-connection.js";
import { spawnAgent } from "../../../src/workspaces/provisioners/agent-process.js";
import { connectAgent } from "../../../src/workspaces/agent-client/agent-connection.js";
import { commit, diffByHand, git, makeRepository, write } from "./git-support.js";
import { agentCommand, startTestAgent, type TestAgent } from "../support.js";

let agent: TestAgent;
let connections = 0;
beforeAll(async () => {
  agent = await startTestAgent();
});
afterAll(() => agent.close());

function openWatches(
  connect: (chatId: string) => Promise<AgentConnection> = async (chatId) => agent.connection.forChat(chatId),
  pushSeen: GitWatchesDependencies["pushSeen"] = () => Promise.resolve(),
): GitWatches {
  return new GitWatches({
    connect: (_workspaceId, chatId) => {
      connections += 1;
      return connect(chatId);
    },
    ...{ clock: systemClock, log: createLog("silent"), random: () => 0 },
    pushSeen,
  });
}

const chat = (chatId: string) => ({ chatId, workspaceId: "workspace" });

async function next(stream: EventStream<GitSnapshot> | null): Promise<GitSnapshot> {
  const result = await stream?.next();
  if (!result || result.done) throw new Error("The stream has ended.");
  return result.value;
}

const textsOf = ({ repositories }: GitSnapshot) => repositories.map(({ unifiedDiff }) => unifiedDiff);

async function change(chatId: string, root: string, text: string): Promise<string> {
  await agent.connection.forChat(chatId).writeFile({ path: join(root, "a.txt"), content: text });
  return diffByHand(root);
}

test("all subscribers of a chat share one watch, which ends with the last of them", async () => {
  const root = await makeRepository(join(agent.folder, "shared"));
  await change("shared", root, "two\n");
  const watches = openWatches();
  const before = connections;
  const streams = Array.from({ length: 20 }, () => watches.subscribe(chat("shared")));
  const first = await Promise.all(streams.map(next));
  const read = await watches.read(chat("shared"));
  const during = watches.subscribedChats;
  for (const stream of streams) await stream?.return();
  expect({ same: new Set([...first, read]).size, during, opened: connections - before }).toEqual({
    same: 1,
    during: 1,
    opened: 1,
  });
  expect([watches.subscribedChats, first[0] && textsOf(first[0])]).toEqual([0, [await diffByHand(root)]]);
  await watches.close();
});

test("a slow reader gets the newest snapshot, and none of those in between", async () => {
  const root = await makeRepository(join(agent.folder, "slow"));
  const watches = openWatches();
  const [slow, quick] = [watches.subscribe(chat("slow")), watches.subscribe(chat("slow"))];
  let diff = await change("slow", root, "0\n");
  const seen: string[] = [];
  for (let count = 1; count <= 3; count += 1) {
    while (seen.at(-1) !== diff) seen.push(textsOf(await next(quick)).join());
    diff = await change("slow", root, `${count}\n`);
  }
  while (seen.at(-1) !== diff) seen.push(textsOf(await next(quick)).join());
  const first = await next(slow);
  let isOver = false;
  const rest = next(slow).finally(() => (isOver = true));
  rest.catch(() => undefined);
  await watches.read(chat("slow"));
  expect([textsOf(first), isOver]).toEqual([[diff], false]);
  await watches.close();
  await expect(rest).rejects.toThrow("ended");
});

test("when the agent ends its last snapshot stays, and changes come from the next agent", async () => {
  const root = await makeRepository(join(agent.folder, "dying"));
  const start = () =>
    spawnAgent({
      ...{ command: agentCommand, directory: root, environment: process.env, logLevel: "silent" },
      clock: systemClock,
    });
  let program = start();
  const watches = openWatches(async (chatId) => connectAgent(await program.listening).forChat(chatId));
  const stream = watches.subscribe(chat("dying"));
  const first = await next(stream);
  await program.stop();
  const meanwhile = await watches.read(chat("dying"));
  await write(root, { "a.txt": "after\n" });
  program = start();
  const second = await next(stream);
  await watches.close();
  await program.stop();
  expect([textsOf(first), meanwhile, textsOf(second)]).toEqual([[""], first, [await diffByHand(root)]]);
});

test("a refresh includes all changes made before it was requested, also before any scan", async () => {
  const root = await makeRepository(join(agent.folder, "refreshed"));
  await change("refreshed", root, "one\n");
  const watches = openWatches();
  const alone = await watches.refresh(chat("refreshed"));
  const stream = watches.subscribe(chat("refreshed"));
  await next(stream);
  const answers: boolean[] = [];
  for (let count = 0; count < 3; count += 1) {
    await write(root, { "a.txt": `${count} by another process\n` });
    const answer = await watches.refresh(chat("refreshed"));
    answers.push(answer !== null && textsOf(answer).join() === (await diffByHand(root)));
  }
  await watches.close();
  expect([alone && textsOf(alone), answers]).toEqual([[""], [true, true, true]]);
});

test("a workspace that cannot be reached is null at once, and is retried while it has subscribers", async () => {
  const root = await makeRepository(join(agent.folder, "late"));
  await change("late", root, "late\n");
  let isThere = false;
  const watches = openWatches(async (chatId) => {
    if (!isThere) throw new Error("There is no way to the workspace.");
    return agent.connection.forChat(chatId);
  });
  const absent = [await watches.read(chat("late")), await watches.refresh(chat("late"))];
  const stream = watches.subscribe(chat("late"));
  isThere = true;
  const first = await next(stream);
  await watches.close();
  expect([absent, textsOf(first)]).toEqual([[null, null], [await diffByHand(root)]]);
});

test("when the server closes, pending requests end and subscribers are not disconnected yet", async () => {
  let onRequest = () => {};
  const requested = new Promise<void>((resolve) => (onRequest = resolve));
  const watches = openWatches(() => {
    onRequest();
    return new Promise(() => undefined);
  });
  const stream = watches.subscribe(chat("ending"));
  let hasEnded = false;
  const end = stream?.next().finally(() => (hasEnded = true));
  const waiting = [watches.read(chat("ending")), watches.refresh(chat("ending"))];
  await requested;
  watches.stopAnswering();
  const answers = [...(await Promise.all(waiting)), await watches.read(chat("ending"))];
  expect([answers, hasEnded]).toEqual([[null, null, null], false]);
  await watches.close();
  expect(await end).toEqual({ value: undefined, done: true });
});

test("a chat without a workspace has one empty snapshot and nothing to read", async () => {
  const watches = openWatches();
  const unbound = { chatId: "unbound", workspaceId: null };
  const stream = watches.subscribe(unbound);
  const first = await next(stream);
  const snapshots = [await watches.read(unbound), await watches.refresh(unbound)];
  await watches.close();
  expect([first.repositories, snapshots, await stream?.next()]).toEqual([
    [],
    [null, null],
    { value: undefined, done: true },
  ]);
});

test("without git in the workspace there is an empty snapshot, also for who asks for a new one", async () => {
  const bare = await startTestAgent({ PATH: "/nonexistent" });
  const watches = openWatches(async (chatId) => bare.connection.forChat(chatId));
  const stream = watches.subscribe(chat("bare"));
  const seen = [await next(stream), await watches.read(chat("bare")), await watches.refresh(chat("bare"))];
  await watches.close();
  await bare.close();
  expect(seen.map((snapshot) => snapshot?.repositories)).toEqual([[], [], []]);
});

test("after a thousand subscriptions and unsubscriptions nothing is watched", async () => {
  const watches = openWatches();
  for (let count = 0; count < 1_000; count += 1) {
    const stream = watches.subscribe(chat(`fleeting-${count % 50}`));
    if (count % 100 === 0) await next(stream);
    await stream?.return();
  }
  const left = watches.subscribedChats;
  await watches.close();
  expect(left).toBe(0);
});

test("[G24] a branch that is pushed while its chat is watched is noted, and what was there before is not", async () => {
  const root = await makeRepository(join(agent.folder, "pushed"));
  const remote = join(agent.folder, "pushed.git");
  await git(root, "init", "--quiet", "--bare", remote);
  await git(root, "remote", "add", "origin", remote);
  await git(root, "switch", "--quiet", "--create", "hello");
  await git(root, "push", "--quiet", "--set-upstream", "origin", "hello");
  await change("pushed", root, "two\n");
  const seen: unknown[] = [];
  const watches = openWatches(undefined, async (chatId, work) => void seen.push([chatId, work]));
  const stream = watches.subscribe(chat("pushed"));
  const scan = async () => {
    await watches.refresh(chat("pushed"));
    return seen.length;
  };
  const before = await scan();
  await commit(root);
  const committed = await scan();
  await git(root, "push", "--quiet");
  const pushed = await scan();
  const again = await scan();
  expect([before, committed, pushed, again]).toEqual([0, 0, 1, 1]);
  expect(seen).toEqual([["pushed", { branch: "hello", remoteOrigin: remote }]]);
  await stream?.return();
  await watches.close();
});
