// Agents that dial out: a real agent process and the endpoint of a real server.
import { once } from "node:events";
import { readdir, readFile, readlink, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { openAgents, type Agents } from "../../src/compose/agents.js";
import { Closers } from "../../src/compose/closers.js";
import { openCore } from "../../src/compose/core.js";
import { openApi } from "../../src/compose/api.js";
import { readConfig } from "../../src/config/config.js";
import { PING_INTERVAL_MS } from "../../src/lib/streams/byte-streams.js";
import { systemClock, type Clock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { VERSION } from "../../src/lib/version.js";
import { AGENT_CAPABILITIES, AGENT_PROTOCOL_VERSION } from "../../src/agent/protocol/paths.js";
import type { Database } from "../../src/store/common/database.js";
import {
  createAgentToken,
  createExternalWorkspace,
  removeExternalWorkspace,
} from "../../src/store/workspaces/external-workspaces.js";
import { findOldestAdmin } from "../../src/store/users/users.js";
import { readWorkspace } from "../../src/store/workspaces/workspaces.js";
import {
  AgentUnreachable,
  type AgentConnection,
} from "../../src/workspaces/agent-client/agent-connection.js";
import { hashAgentToken } from "../../src/workspaces/tunnels/requests.js";
import { startCuttableProxy } from "../sdk/cuttable-proxy.js";
import { startDialingAgent, type DialingAgent } from "../support/workspaces/dialing-agent.js";
import { createTestDatabase, type TestDatabase } from "../support/database/database.js";
import { freePort } from "../support/network/free-port.js";
import { SECRETS_KEYS } from "../support/users/secrets-keys.js";
import { makeFifo } from "./files/fifo.js";
import { ManualClock } from "./manual-clock.js";
import { makeFolder } from "./support.js";
import { eventually } from "../support/eventually.js";

const CHAT = "00000000-0000-4000-8000-000000000001";

type Server = { url: string; agents: Agents; database: Database; ownerId: string; close(): Promise<void> };
type Workspace = { id: string; token: string; name: string };

let testDatabase: TestDatabase;
let folder: string;
let server: Server;
/** Its agent has connected to `server`; shared by all tests that only use it. */
let workspace: Workspace;
let agent: DialingAgent;
const callers: DialingAgent[] = [];
beforeAll(async () => {
  [testDatabase, folder] = await Promise.all([createTestDatabase(), makeFolder()]);
  server = await openServer();
  workspace = await addWorkspace("the one");
  agent = startDialingAgent({ token: workspace.token, directory: folder, servers: [server.url] });
  await agent.untilOutput(1);
});
afterEach(async () => {
  await Promise.all(callers.splice(0).map((caller) => caller.end("SIGKILL")));
});
afterAll(async () => {
  await agent.end();
  await server.close();
  await testDatabase.drop();
  await rm(folder, { recursive: true, force: true });
});

async function openServer(port = 0, clock: Clock = systemClock): Promise<Server> {
  const { url, host, port: databasePort, user, database } = testDatabase.options;
  const address = url ?? `postgres://${user}@${encodeURIComponent(host ?? "")}:${databasePort}/${database}`;
  const log = createLog("silent");
  const settings = {
    DATABASE_URL: address,
    PARLEY_SECRETS_KEYS: SECRETS_KEYS,
    PARLEY_PORT: `${port}`,
    PARLEY_ROLE: "api",
  };
  const closers = new Closers(log);
  const core = { ...(await openCore(readConfig(settings, folder), log, closers)), clock };
  const agents = await openAgents(core, closers, {});
  const api = await openApi(core, agents, closers);
  await core.seeding.run();
  const ownerId = (await findOldestAdmin(core.database))?.id ?? "";
  return { url: api.url, agents, database: core.database, ownerId, close: () => closers.closeAll() };
}

async function addWorkspace(name: string, token = createAgentToken()): Promise<Workspace> {
  const { database, ownerId } = server;
  const id = await createExternalWorkspace(database, { ownerId, name, tokenHash: hashAgentToken(token) });
  return { id: id ?? "", token, name };
}

function call({ token }: { token: string }, servers: string[], directory = folder): DialingAgent {
  const caller = startDialingAgent({ token, directory, servers });
  callers.push(caller);
  return caller;
}

function connection({ id } = workspace): Promise<AgentConnection> {
  return server.agents.workspaces.open(id, CHAT);
}

async function outputOf(connected: AgentConnection, command: string): Promise<string> {
  const { id } = await connected.startProcess({ command });
  return (await connected.processOutput({ id, wait: true })).output;
}

const isReplaced = (line: Record<string, unknown>) => String(line["reason"]).includes("closed with 4409");

test("[A11] [A12] an agent that dials out opens no port, and is registered with its own facts", async () => {
  const [line] = agent.lines;
  expect(line).toEqual({
    event: "registered",
    server: `${server.url.replace("http", "ws")}/agents`,
    instanceId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
  });
  expect(await readWorkspace(server.database, workspace.id)).toMatchObject({
    name: "the one",
    provisioner: "external",
    directory: null,
    status: "running",
    agent: {
      instanceId: line?.instanceId,
      version: VERSION,
      workingDirectory: folder,
      capabilities: AGENT_CAPABILITIES,
    },
  });
  expect(await listeningSockets(agent.child.pid ?? 0)).toEqual([]);
});

/** Local TCP addresses on which a process listens. Empty on systems without /proc. */
async function listeningSockets(pid: number): Promise<string[]> {
  const handles = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const links = handles.map((handle) => readlink(`/proc/${pid}/fd/${handle}`).catch(() => ""));
  const inodes = new Set((await Promise.all(links)).map((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1]));
  const tables = ["tcp", "tcp6"].map((table) =>
    readFile(`/proc/${pid}/net/${table}`, "utf8").catch(() => ""),
  );
  const rows = (await Promise.all(tables)).join("\n").split("\n");
  const fields = rows.map((row) => row.trim().split(/\s+/));
  return fields.filter(([, , , state, , , , , , inode]) => state === "0A" && inodes.has(inode)).map(String);
}

test("[A17] ten megabytes go in and out through a call as they are", async () => {
  const connected = await connection();
  const content = Array.from({ length: 163_840 }, (_, line) => `ö${String(line).padStart(61, "=")}`).join(
    "\n",
  );
  await connected.writeFile({ path: "large.txt", content });
  expect(await readFile(join(folder, "large.txt"), "utf8")).toBe(content);
  const { bytes } = await connected.readBytes({ path: "large.txt" });
  expect(Buffer.from(bytes).equals(Buffer.from(content))).toBe(true);
});

test("[A17] a hundred requests at one time are answered, each with its own answer", async () => {
  const connected = await connection();
  const outputs = await Promise.all(
    Array.from({ length: 100 }, (_, index) => outputOf(connected, `printf ${index}`)),
  );
  expect(outputs).toEqual(Array.from({ length: 100 }, (_, index) => String(index)));
});

test("[A18] a cut connection fails pending requests; the command continues, and is found again by its key", async () => {
  const proxy = await startCuttableProxy(server.url);
  const cut = await addWorkspace("cut");
  const caller = call(cut, [proxy.url]);
  await caller.untilOutput(1);
  const before = await connection(cut);
  const fifo = makeFifo(join(folder, "goes-on"));
  const command = "exec 3>goes-on; until test -e go; do sleep 0.05; done; echo done";
  const { id } = await before.startProcess({ command, idempotencyKey: "one" });
  await fifo.opened;
  const waiting = before.processOutput({ id, wait: true }).catch((error: unknown) => error);
  expect(proxy.cut()).toBe(1);
  expect(await waiting).toBeInstanceOf(AgentUnreachable);
  await caller.untilOutput(2);
  const after = await connection(cut);
  expect(after.instance).toBe(before.instance);
  expect(await after.startProcess({ command, idempotencyKey: "one" })).toEqual({
    ...{ id, started: false, attached: true },
  });
  await after.writeFile({ path: "go", content: "" });
  expect((await after.processOutput({ id, wait: true })).output).toBe("done\n");
  await proxy.close();
});

test("[A13] an agent calls until a server is there, and again when it was away", async () => {
  const port = await freePort();
  const patient = await addWorkspace("patient");
  const caller = call(patient, [`ws://127.0.0.1:${port}`]);
  await caller.untilLogged(({ reason }) => String(reason).includes("ECONNREFUSED"));
  const first = await openServer(port);
  await caller.untilOutput(1);
  await first.close();
  await caller.untilLogged(({ reason }) => String(reason).includes("closed with 1001"));
  const second = await openServer(port);
  await caller.untilOutput(2);
  const connected = await second.agents.workspaces.open(patient.id, CHAT);
  expect(await outputOf(connected, "echo back")).toBe("back\n");
  await caller.end();
  await second.close();
});

test("[A14] an unknown token is refused, and the agent keeps retrying in case it becomes known", async () => {
  const token = createAgentToken();
  const caller = call({ token }, [server.url]);
  await caller.untilLogged(({ reason }) => String(reason).includes("does not know this token (401)"));
  const known = await addWorkspace("known later", token);
  await caller.untilOutput(1);
  expect(await outputOf(await connection(known), "echo hello")).toBe("hello\n");
  expect(JSON.stringify(caller.log)).not.toContain(token);
});

test("[A15] a second agent replaces the first, which is on standby and does not replace it again", async () => {
  const contested = await addWorkspace("contested");
  const elsewhere = await makeFolder();
  const first = call(contested, [server.url]);
  await first.untilOutput(1);
  const second = call(contested, [server.url], elsewhere);
  await Promise.all([second.untilOutput(1), first.untilLogged(isReplaced)]);
  expect(await outputOf(await connection(contested), "pwd")).toBe(`${elsewhere}\n`);
  expect(first.log.find(isReplaced)?.["delayMs"]).toBeGreaterThanOrEqual(15_000);
  expect([first.lines.length, second.lines.length]).toEqual([1, 1]);
  // The connection slot is free: the waiting agent takes it within half a minute.
  await second.end("SIGTERM");
  await first.untilOutput(2);
  expect(await outputOf(await connection(contested), "pwd")).toBe(`${folder}\n`);
  await rm(elsewhere, { recursive: true });
});

test("[A16] a closed connection is noticed at once, without a wait for an agent that was stopped", async () => {
  const left = await addWorkspace("left");
  const caller = call(left, [server.url]);
  await caller.untilOutput(1);
  expect(await caller.end("SIGTERM")).toBe(0);
  await eventually(async () => {
    expect(await readWorkspace(server.database, left.id)).toMatchObject({ status: "stopped", agent: null });
  });
  await expect(connection(left)).rejects.toThrow("The workspace cannot be reached right now.");
});

test("[A20] a frozen agent is disconnected, and registered again when it continues", async () => {
  const clock = new ManualClock();
  const patient = await openServer(0, clock);
  const frozen = await addWorkspace("frozen");
  const caller = call(frozen, [patient.url]);
  await caller.untilOutput(1);
  const connected = await patient.agents.workspaces.open(frozen.id, CHAT);
  caller.child.kill("SIGSTOP");
  const healthRequest = connected.health().catch((error: unknown) => error);
  for (let interval = 1; interval <= 3; interval += 1) clock.advance(PING_INTERVAL_MS);
  expect(await healthRequest).toBeInstanceOf(AgentUnreachable);
  caller.child.kill("SIGCONT");
  await caller.untilOutput(2);
  const again = await patient.agents.workspaces.open(frozen.id, CHAT);
  expect((await again.health()).instanceId).toBe(connected.instance);
  await caller.end();
  await patient.close();
});

test("[A19] a workspace that is removed ends its agent's call with the next renewal", async () => {
  const removed = await addWorkspace("removed");
  const caller = call(removed, [server.url]);
  await caller.untilOutput(1);
  const { database, ownerId } = server;
  expect(await removeExternalWorkspace(database, { ownerId, name: removed.name })).toBe(removed.id);
  await caller.untilLogged(isReplaced);
});

async function requestUpgrade(path: string, headers: Record<string, string>): Promise<number | string> {
  const socket = new WebSocket(`${server.url.replace("http", "ws")}${path}`, { headers });
  return new Promise((resolve) => {
    socket.on("error", () => undefined);
    socket.once("unexpected-response", (_request, response) => {
      resolve(response.statusCode ?? 0);
      socket.terminate();
    });
    socket.once("open", () => {
      resolve("open");
      socket.terminate();
    });
  });
}

const callHeaders = (token: string) => ({
  authorization: `Bearer ${token}`,
  "parley-agent-instance": CHAT,
  "parley-agent-protocol": String(AGENT_PROTOCOL_VERSION),
  "parley-agent-call": "again",
});

test("who knocks without a token, a name or the protocol is not let in", async () => {
  const { token } = workspace;
  const headers = callHeaders(token);
  const statuses = await Promise.all([
    requestUpgrade("/agents", {}),
    requestUpgrade("/agents", callHeaders("pla_wrong")),
    requestUpgrade("/agents", callHeaders(createAgentToken())),
    requestUpgrade("/agents", callHeaders(`pla_${"x".repeat(5_000)}`)),
    requestUpgrade("/agents", { ...headers, "parley-agent-instance": "me" }),
    requestUpgrade("/agents", { ...headers, "parley-agent-protocol": "99" }),
    requestUpgrade("/agents/replica", headers),
    requestUpgrade("/agents/other", headers),
  ]);
  expect(statuses).toEqual([401, 401, 401, 401, 400, 426, 404, 404]);
});

test("[A12] a caller that speaks nonsense is sent away, and the workspace's agent stays", async () => {
  const address = `${server.url.replace("http", "ws")}/agents`;
  const closings = await Promise.all(
    ["text", Buffer.from([9]), Buffer.from([77, 0, 0, 0, 1]), Buffer.alloc(200_000)].map(async (message) => {
      const socket = new WebSocket(address, { headers: callHeaders(workspace.token) });
      socket.on("error", () => undefined);
      await once(socket, "open");
      socket.send(message);
      const [code] = (await once(socket, "close")) as [number];
      return code;
    }),
  );
  expect(closings).toEqual([1002, 1002, 1002, 1009]);
  expect(await outputOf(await connection(), "echo still here")).toBe("still here\n");
  expect(agent.lines.length).toBe(1);
});
