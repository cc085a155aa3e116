// Limits on the processes of chats and users, on a real agent.
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { findTool, builtInTools } from "../../../src/engine/tools/registry.js";
import type { AgentConnection } from "../../../src/workspaces/agent-client/agent-connection.js";
import { noAgents } from "../../support/workspaces/no-agents.js";
import { eventually } from "../../support/eventually.js";
import { openAgent, refusalOf, type RunningAgent } from "./process-agent.js";

let agent: RunningAgent;
let connection: AgentConnection;
beforeAll(async () => {
  const environment = { PARLEY_AGENT_MAX_PROCESSES_PER_CHAT: "3", PARLEY_AGENT_MAX_PROCESSES_PER_USER: "5" };
  agent = await openAgent({ environment });
  ({ connection } = agent);
});
afterAll(() => agent.stop());
/** All groups are gone. */
afterEach(async () => {
  await eventually(async () => {
    const { processes } = await connection.listProcesses();
    const living = processes.filter(({ running, childrenRunning }) => running || childrenRunning);
    for (const { id } of living) await connection.signalProcess(id, "kill").catch(() => undefined);
    expect(living).toEqual([]);
  });
});

const SLEEP = { command: "exec sleep 600", background: true };

/** Starts this many processes at once; returns how many succeeded, and the refusals of the others. */
async function startMany(
  chat: AgentConnection,
  count: number,
): Promise<{ ids: string[]; refusals: string[] }> {
  const ends = await Promise.allSettled(Array.from({ length: count }, () => chat.startProcess(SLEEP)));
  return {
    ids: ends.flatMap((end) => (end.status === "fulfilled" ? [end.value.id] : [])),
    refusals: ends.flatMap((end) => (end.status === "rejected" ? [String(end.reason)] : [])),
  };
}

test("[P30] a chat starts as many as it may, also at the same time, and a refusal lists those that run", async () => {
  const chat = connection.forChat("chat-1", [], "user-1");
  const { ids, refusals } = await startMany(chat, 8);
  expect([ids.length, refusals.length]).toEqual([3, 5]);
  for (const refusal of refusals) {
    expect(refusal).toContain("This chat runs 3 processes already, as many as one chat may: ");
    for (const id of ids) expect(refusal).toContain(`${id} (exec sleep 600)`);
  }
  expect((await refusalOf(chat.startProcess(SLEEP))).status).toBe(429);
  await chat.signalProcess(ids[0] ?? "", "kill");
  await chat.processOutput({ id: ids[0] ?? "", wait: true });
  expect((await startMany(chat, 2)).ids).toHaveLength(1);
});

test("[P30] the chats of a user share a limit and do not see each other; other users and chats without a user have their own", async () => {
  const chats = ["chat-1", "chat-2", "chat-3"].map((id) => connection.forChat(id, [], "user-1"));
  const starts = await Promise.all(chats.map((chat) => startMany(chat, 3)));
  expect(starts.flatMap(({ ids }) => ids)).toHaveLength(5);
  const [refusal = ""] = starts.flatMap(({ refusals }) => refusals);
  expect(refusal).toContain("The chats of this user run 5 processes in this workspace already");
  const last = await refusalOf(connection.forChat("chat-4", [], "user-1").startProcess(SLEEP));
  expect(last.message).toMatch(/as many as one user may; none of them is this chat's\.$/);
  expect((await startMany(connection.forChat("chat-5", [], "user-2"), 1)).ids).toHaveLength(1);
  expect((await startMany(connection, 4)).ids).toHaveLength(4);
});

test("[P31] what a process leaves running counts, is shown and can be ended; what has ended counts no longer", async () => {
  const chat = connection.forChat("chat-6", [], "user-1");
  const finish = async (command: string) => {
    const { id } = await chat.startProcess({ command });
    await chat.processOutput({ id, wait: true });
    return id;
  };
  for (let count = 0; count < 5; count += 1) await finish("true");
  const left: string[] = [];
  for (let count = 0; count < 3; count += 1) left.push(await finish("sleep 600 > /dev/null 2>&1 &"));
  const refused = await refusalOf(chat.startProcess(SLEEP));
  expect(refused.message).toContain(`${left[0]} (children of sleep 600 > /dev/null 2>&1 &)`);
  const { processes } = await chat.listProcesses();
  expect(
    processes.slice(0, 4).map(({ id, running, childrenRunning }) => [id, running, childrenRunning]),
  ).toEqual([...left.toReversed().map((id) => [id, false, true]), [processes[3]?.id, false, undefined]]);
  await chat.signalProcess(left[0] ?? "", "terminate");
  const { id } = await eventually(() => chat.startProcess(SLEEP));
  expect(id).toBeDefined();
  expect((await refusalOf(chat.signalProcess(left[0] ?? "", "terminate"))).status).toBe(409);
});

test("a tool's result lists the running processes and what to do", async () => {
  const chat = connection.forChat("chat-7", [], "user-3");
  const { ids } = await startMany(chat, 3);
  const context = {
    ...{ workspace: () => Promise.resolve(chat), output: () => undefined, agents: noAgents },
    ...{ idempotencyKey: "call", signal: new AbortController().signal },
  };
  const { result } = (await findTool(builtInTools, "execute")?.run({ command: "true" }, context)) ?? {};
  expect(result).toMatchObject({
    success: false,
    error: expect.stringMatching(
      new RegExp(
        `^This chat runs 3 processes already.*${ids[0]}.*Nothing was started\\. Stop one .*process_signal`,
      ),
    ) as string,
  });
});
