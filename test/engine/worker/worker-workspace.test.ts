// Turns whose tools work in a real workspace, through a real agent process.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { builtInTools } from "../../../src/engine/tools/registry.js";
import { connectAgent, type AgentConnection } from "../../../src/workspaces/agent-client/agent-connection.js";
import { startTestAgent, type TestAgent } from "../../agent/support.js";
import { makeFifo } from "../../agent/files/fifo.js";
import { isAtRest, World, type Replica } from "../world.js";

let agent: TestAgent;
let world: World;
beforeAll(async () => {
  agent = await startTestAgent();
  world = await World.open(agent.folder);
});
afterAll(async () => {
  await world.close();
  await agent.close();
});
afterEach(() => world.closeReplicas());

async function start(...first: AgentConnection[]): Promise<Replica> {
  const openWorkspace = (chatId: string) =>
    Promise.resolve(first.shift() ?? agent.connection.forChat(chatId));
  const replica = world.replica({ tools: builtInTools, openWorkspace });
  await replica.worker.start();
  return replica;
}

const inWorkspace = () => ({ workspaceId: world.workspaceId });

test("the model writes, edits, runs and reads, step by step", async () => {
  const replica = await start();
  const asked = "write `one two` to a.txt, then replace `two` with `three` in a.txt, then run `cat a.txt`";
  const chatId = await world.createChat(replica, asked, inWorkspace());
  expect(await world.until(chatId, isAtRest)).toMatchObject({ status: "waiting", lastError: null });
  expect(await readFile(join(agent.folder, "a.txt"), "utf8")).toBe("one three");
  const history = await world.history(chatId);
  expect(history.map(({ role }) => role)).toEqual([
    "user",
    ...["assistant", "tool", "assistant", "tool", "assistant", "tool"],
    "assistant",
  ]);
  expect(history[6]?.parts).toMatchObject([
    { isError: false, result: { output: "one three", exit_code: 0 } },
  ]);
  expect((await world.historyLines(chatId)).at(-1)).toContain("one three");
});

test("a command that runs while its worker shuts down runs once, and the next worker gets its result", async () => {
  const leaving = await start();
  const fifo = makeFifo(join(agent.folder, "begun"));
  const command = "echo run >> runs; exec 3>begun; until test -e gate; do sleep 0.1; done; cat runs";
  world.answer = ({ turns }) =>
    turns.some(({ role }) => role === "results")
      ? { text: "Done." }
      : { toolCalls: [{ id: "a", name: "execute", arguments: { command, timeout: "1h" } }] };
  const chatId = await world.createChat(leaving, "Run it", inWorkspace());
  await fifo.opened;
  await leaving.worker.close();
  expect(await world.state(chatId)).toMatchObject({ status: "pending", runnerId: null });
  await start();
  await world.untilStatus(chatId, "running");
  await writeFile(join(agent.folder, "gate"), "");
  await world.untilStatus(chatId, "waiting");
  expect((await world.history(chatId))[2]?.parts).toMatchObject([{ result: { output: "run\n" } }]);
  world.answer = () => undefined;
});

test("an interrupt also ends a command that ignores SIGTERM", async () => {
  const replica = await start();
  const fifo = makeFifo(join(agent.folder, "deaf"));
  const command = "trap '' TERM; exec 3>deaf; while :; do sleep 0.1; done";
  world.answer = () => ({ toolCalls: [{ id: "a", name: "execute", arguments: { command, timeout: "1h" } }] });
  const chatId = await world.createChat(replica, "Run it", inWorkspace());
  await fifo.opened;
  await replica.commands.interruptChat(world.viewer, chatId);
  await world.untilStatus(chatId, "waiting");
  await fifo.closed;
  expect((await world.history(chatId))[2]?.parts).toMatchObject([{ toolCallId: "a", isError: true }]);
  world.answer = () => undefined;
});

test("an interrupt ends the command and answers its call", async () => {
  const replica = await start();
  const fifo = makeFifo(join(agent.folder, "held"));
  const command = "exec 3>held; sleep 600";
  world.answer = () => ({ toolCalls: [{ id: "a", name: "execute", arguments: { command, timeout: "1h" } }] });
  const chatId = await world.createChat(replica, "Run it", inWorkspace());
  await fifo.opened;
  await replica.commands.interruptChat(world.viewer, chatId);
  await world.untilStatus(chatId, "waiting");
  await fifo.closed;
  expect((await world.historyLines(chatId)).at(-1)).toBe(
    'tool: a!={"error":"The call was interrupted before it had a result."}',
  );
  world.answer = () => undefined;
});

test("an agent that restarts at another address during a turn is reconnected", async () => {
  const replica = await start(connectAgent({ url: "http://127.0.0.1:1", token: "x" }));
  const read = (id: string) => ({ toolCalls: [{ id, name: "process_list", arguments: {} }] });
  const answers = [read("a"), read("b")];
  world.answer = () => answers.shift() ?? { text: "Done." };
  const chatId = await world.createChat(replica, "Look", inWorkspace());
  await world.until(chatId, isAtRest);
  const results = (await world.history(chatId)).filter(({ role }) => role === "tool");
  expect(results.map(({ parts }) => parts)).toMatchObject([[{ isError: true }], [{ isError: false }]]);
  world.answer = () => undefined;
});

test("a chat without a workspace is offered no tools that need one", async () => {
  const replica = await start();
  const chatId = await world.createChat(replica, "run `ls`");
  await world.until(chatId, isAtRest);
  const ofWorkspaces = builtInTools.filter(({ worksOn }) => worksOn === undefined).map(({ name }) => name);
  const toolNames = world.demo.requests.at(-1)?.tools.map(({ name }) => name) ?? [];
  expect(toolNames.filter((name) => ofWorkspaces.includes(name))).toEqual([]);
});
