// Cache of workspaces' contexts, read from real agents; only the clock is the test's own.
import { mkdir, writeFile } from "node:fs/promises";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { WorkspaceContexts } from "../../src/services/workspaces/workspace-contexts.js";
import { createLog } from "../../src/lib/log.js";
import {
  AgentUnreachable,
  connectAgent,
  CONTEXT_TIMEOUT_MS,
  type AgentConnection,
} from "../../src/workspaces/agent-client/agent-connection.js";
import { ManualClock } from "../agent/manual-clock.js";
import { startTestAgent, type TestAgent } from "../agent/support.js";

const FRESH_MS = 5 * 60_000;

let agent: TestAgent;
let clock: ManualClock;
let contexts: WorkspaceContexts;
beforeAll(async () => {
  agent = await startTestAgent();
});
afterAll(() => agent.close());
beforeEach(() => {
  clock = new ManualClock();
  contexts = new WorkspaceContexts({ clock, log: createLog("silent") });
});
afterEach(() => contexts.close());

const connect = () => agent.local.connection();
const away = () => Promise.reject(new AgentUnreachable("The workspace agent cannot be reached."));

const writeInstructions = (text: string) => writeFile(join(agent.folder, "AGENTS.md"), text);

async function instructions(connection = connect, workspaceId = "here"): Promise<string[] | null> {
  const context = await contexts.read(workspaceId, connection);
  return context?.instructionFiles.map(({ content }) => content) ?? null;
}

test("a changed instruction file is visible after five minutes", async () => {
  await writeInstructions("old");
  const first = await instructions();
  await writeInstructions("new");
  clock.advance(FRESH_MS - 1);
  const stillFresh = await instructions();
  clock.advance(1);
  expect([first, stillFresh, await instructions()]).toEqual([["old"], ["old"], ["new"]]);
});

test("each workspace is cached on its own", async () => {
  await writeInstructions("old");
  await instructions();
  await writeInstructions("new");
  expect([await instructions(), await instructions(connect, "there")]).toEqual([["old"], ["new"]]);
});

test("a new agent process is read at once, and its chats' connections count as the same process", async () => {
  await writeInstructions("old");
  await instructions();
  await writeInstructions("new");
  const sameProcess = await instructions(async () => (await connect()).forChat("chat-1"));
  const otherProcess = async () => ({ ...(await connect()), instance: "another start" });
  expect([sameProcess, await instructions(otherProcess)]).toEqual([["old"], ["new"]]);
});

test("many turns at once read a workspace once", async () => {
  await writeInstructions("text");
  let dials = 0;
  const counted = () => {
    dials += 1;
    return connect();
  };
  const all = await Promise.all([1, 2, 3].map(() => instructions(counted)));
  expect({ all, dials }).toEqual({ all: [["text"], ["text"], ["text"]], dials: 1 });
});

test("an unreachable workspace has no context, and the next turn tries again", async () => {
  await writeInstructions("text");
  expect([await instructions(away), await instructions()]).toEqual([null, ["text"]]);
});

test("a workspace that became unreachable keeps its last known context", async () => {
  await writeInstructions("text");
  await instructions();
  clock.advance(FRESH_MS);
  expect(await instructions(away)).toEqual(["text"]);
});

test("a turn waits five seconds for a workspace; a later answer is there for the next turn", async () => {
  await writeInstructions("text");
  let arrive: (connection: AgentConnection) => void = () => undefined;
  const slow = () => new Promise<AgentConnection>((resolve) => (arrive = resolve));
  const waiting = clock.nextTimer(CONTEXT_TIMEOUT_MS);
  const first = instructions(slow);
  await waiting;
  clock.advance(CONTEXT_TIMEOUT_MS);
  expect(await first).toBeNull();

  const second = instructions(away);
  arrive(await connect());
  expect(await second).toEqual(["text"]);
});

test("an agent that is too old for contexts fails no turn", async () => {
  const old: Server = createServer((_, response) => {
    response.writeHead(404, { "content-type": "application/json" });
    response.end(JSON.stringify({ message: "There is nothing at GET /v1/context." }));
  });
  old.listen(0, "127.0.0.1");
  await once(old, "listening");
  const address = old.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const connection = connectAgent({ url: `http://127.0.0.1:${address.port}`, token: "x" });
  const read = await instructions(() => Promise.resolve(connection));
  old.closeAllConnections();
  old.close();
  expect(read).toBeNull();
});

test("skills come with the context", async () => {
  const directory = join(agent.folder, ".agents/skills/sing");
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, "SKILL.md"), "---\nname: sing\ndescription: Sings.\n---\nLoud.");
  expect(await contexts.read("here", connect)).toMatchObject({
    workingDirectory: agent.folder,
    skills: [{ name: "sing", description: "Sings.", directory }],
  });
});
