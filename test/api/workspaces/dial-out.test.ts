// Workspaces that servers cannot reach: their agents dial out, and every replica can use them.
import { execFile, execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";

import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { encodeId } from "../../../src/domain/common/ids.js";
import { VERSION } from "../../../src/lib/version.js";
import {
  createAgentToken,
  createExternalWorkspace,
} from "../../../src/store/workspaces/external-workspaces.js";
import { findOldestAdmin } from "../../../src/store/users/users.js";
import { createReplicaToken } from "../../../src/workspaces/tunnels/replica-token.js";
import { hashAgentToken } from "../../../src/workspaces/tunnels/requests.js";
import { makeFolder } from "../../agent/support.js";
import { SERVER_PROGRAM } from "../../support/build.js";
import { makeFifo } from "../../agent/files/fifo.js";
import {
  startDialingAgent,
  type DialingAgentOptions,
  type DialingAgent,
} from "../../support/workspaces/dialing-agent.js";
import { freePort } from "../../support/network/free-port.js";
import { hasNamespaces, makeNamespace } from "../../support/workspaces/network-namespace.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";
import { hasRedis, startRedis, type TestRedis } from "../../support/network/redis.js";
import { eventually } from "../../support/eventually.js";

let environment: TestEnvironment;
let folder: string;
let callers: DialingAgent[];
beforeEach(async () => {
  [environment, folder] = await Promise.all([createTestEnvironment(), makeFolder()]);
  callers = [];
});
afterEach(async () => {
  await Promise.all(callers.map((caller) => caller.end("SIGKILL")));
  await environment.remove();
  await rm(folder, { recursive: true, force: true });
});

type External = { workspaceId: string; token: string; ownerId: string; name: string };

async function addWorkspace({ parley }: TestParley, name = "far away"): Promise<External> {
  const owner = await findOldestAdmin(parley.database);
  const token = createAgentToken();
  const ownerId = owner?.id ?? "";
  const wanted = { ownerId, name, tokenHash: hashAgentToken(token) };
  const id = await createExternalWorkspace(parley.database, wanted);
  return { workspaceId: encodeId("ws", id ?? ""), token, ownerId, name };
}

function call(token: string, servers: TestParley[], more: Partial<DialingAgentOptions> = {}): DialingAgent {
  const addresses = servers.map(({ api }) => api.url.replace("http", "ws"));
  const caller = startDialingAgent({ token, directory: folder, servers: addresses, ...more });
  callers.push(caller);
  return caller;
}

/** Runs one command in a new chat and returns the tool's result. */
async function runCommand(server: TestParley, workspaceId: string, command: string): Promise<unknown> {
  const chatId = await server.api.createChat(`run \`${command}\``, { workspaceId });
  const follower = server.api.follow(chatId);
  await follower.untilStatus("WAITING", "ERROR");
  await follower.close();
  return resultOf(server, chatId);
}

async function resultOf(server: TestParley, chatId: string): Promise<unknown> {
  const shown = await server.api.chat(chatId);
  return shown?.messages.nodes.find(({ role }) => role === "TOOL")?.parts[0];
}

test("an operator creates a workspace with a command, and its printed token authenticates an agent", async () => {
  const server = await environment.start();
  const added = await runProgram("workspace", "add", "--name", "laptop");
  expect(added).toEqual({ code: 0, output: expect.stringMatching(/^pla_[\w-]{43}\n$/) as string });
  const caller = call(added.output.trim(), [server]);
  const [, unnamed] = await Promise.all([caller.untilOutput(1), runProgram("workspace", "add")]);
  expect(unnamed).toEqual({ code: 2, output: "" });
  const [id, ...facts] = (await runProgram("workspace", "list")).output.trim().split("\t");
  expect(facts).toEqual(["running", "admin", "laptop"]);
  expect(await runCommand(server, id ?? "", "pwd")).toMatchObject({ result: { output: `${folder}\n` } });
});

/** `parley …` from its source, on the environment's database. */
async function runProgram(...words: string[]): Promise<{ code: number; output: string }> {
  const { url, host, port, user, database } = environment.database.options;
  const address = url ?? `postgres://${user}@${encodeURIComponent(host ?? "")}:${port}/${database}`;
  const options = { env: { PATH: process.env["PATH"], HOME: folder, DATABASE_URL: address } };
  return promisify(execFile)(process.execPath, [SERVER_PROGRAM, ...words], options).then(
    ({ stdout }) => ({ code: 0, output: stdout }),
    (failure: { code: number; stdout: string }) => ({ code: failure.code, output: failure.stdout }),
  );
}

const AGENT = `query ($id: ID!) {
  node(id: $id) { ... on Workspace { status agent { version workingDirectory contextFiles { path } skills { name } mcpTools { name } } } }
}`;

test("[A12] a workspace describes its agent while it is connected, and not before or after", async () => {
  const server = await environment.start();
  const { workspaceId, token } = await addWorkspace(server);
  const shown = async () => (await server.api.get<{ node: unknown }>(AGENT, { id: workspaceId })).node;
  expect(await shown()).toEqual({ status: "STOPPED", agent: null });
  await writeFile(join(folder, "AGENTS.md"), "Be kind.");
  const caller = call(token, [server]);
  await caller.untilOutput(1);
  expect(await shown()).toEqual({
    status: "RUNNING",
    agent: {
      version: VERSION,
      workingDirectory: folder,
      contextFiles: [{ path: join(folder, "AGENTS.md") }],
      skills: [],
      mcpTools: [],
    },
  });
  await caller.end();
  await eventually(async () => expect(await shown()).toEqual({ status: "STOPPED", agent: null }));
});

test("a turn works in a workspace whose agent has dialed out", async () => {
  const server = await environment.start();
  const { workspaceId, token } = await addWorkspace(server);
  await writeFile(join(folder, "here.txt"), "behind the wall\n");
  await call(token, [server]).untilOutput(1);
  expect(await runCommand(server, workspaceId, "cat here.txt; pwd")).toMatchObject({
    isError: false,
    result: { success: true, output: `behind the wall\n${folder}\n` },
  });
});

test("a workspace with a disconnected agent is reported at once, and a turn continues without it", async () => {
  const server = await environment.start();
  const { workspaceId } = await addWorkspace(server);
  expect(await runCommand(server, workspaceId, "ls")).toMatchObject({
    isError: true,
    result: { error: "The workspace cannot be reached right now. Try again in a moment." },
  });
});

/** The agent's distance from the servers. */
type Distance = { host: string; within: string[]; remove(): Promise<void> };

const distances = [
  {
    words: "on the same machine",
    isPossible: hasRedis,
    make: async (): Promise<Distance> => ({
      ...{ host: "127.0.0.1", within: [] },
      remove: () => Promise.resolve(),
    }),
  },
  {
    words: "in a network of its own",
    isPossible: hasRedis && hasNamespaces,
    make: async (): Promise<Distance> => {
      const { near, within, remove } = await makeNamespace();
      return { host: near, within, remove };
    },
  },
];

let redis: TestRedis;
beforeAll(async () => {
  if (hasRedis) redis = await startRedis();
});
afterAll(async () => {
  if (hasRedis) await redis.stop();
});

/** Settings of one of several replicas. Leases are short, so that a killed one is detected soon. */
function replica(port: number, more: Record<string, string> = {}): Record<string, string> {
  const host = more["PARLEY_HOST"] ?? "127.0.0.1";
  return {
    REDIS_URL: redis.url,
    PARLEY_PORT: `${port}`,
    PARLEY_REPLICA_URL: `http://${host}:${port}`,
    PARLEY_REPLICA_SECRET: "the-secret-of-the-replicas",
    PARLEY_LEASE_MS: "4000",
    PARLEY_HEARTBEAT_MS: "500",
    ...more,
  };
}

/** The agent's environment, as its commands see it. */
function networkOf(within: string[]): string {
  return execFileSync("env", [...within, "readlink", "/proc/self/ns/net"], { encoding: "utf8" });
}

describe.each(distances)("replicas with an agent $words", ({ isPossible, make }) => {
  let distance: Distance;
  beforeAll(async () => {
    if (isPossible) distance = await make();
  });
  afterAll(async () => {
    if (isPossible) await distance.remove();
  });

  const settings = (port: number, more: Record<string, string> = {}) =>
    replica(port, { PARLEY_HOST: distance.host, ...more });
  const worker = () => settings(0, { PARLEY_ROLE: "worker" });

  test.skipIf(!isPossible)(
    "[A16] turns of every replica work in a workspace whose agent is connected to another one",
    async () => {
      const apiServer = await environment.start(settings(await freePort(), { PARLEY_ROLE: "api" }));
      const { workspaceId, token } = await addWorkspace(apiServer);
      await call(token, [apiServer], { within: distance.within }).untilOutput(1);
      // The network namespace of a command; links with the same number are the same network.
      const command = "echo once >> turns; wc -l < turns; readlink /proc/self/ns/net";
      const first = await environment.start(worker());
      const one = await runCommand(apiServer, workspaceId, command);
      await first.close();
      await environment.start(worker());
      const two = await runCommand(apiServer, workspaceId, command);
      const network = networkOf(distance.within);
      expect([one, two]).toMatchObject([
        { isError: false, result: { output: `1\n${network}` } },
        { isError: false, result: { output: `2\n${network}` } },
      ]);
    },
  );

  test.skipIf(!isPossible)(
    "[A16] [A18] the replica with the agent's connection is killed during a command: the turn continues on the other",
    async () => {
      const ports = [await freePort(), await freePort()] as const;
      const killed = await environment.spawn(settings(ports[0], { PARLEY_ROLE: "api" }));
      const other = await environment.start(settings(ports[1]));
      const { workspaceId, token } = await addWorkspace(other);
      const servers = ports.map((port) => `ws://${distance.host}:${port}`);
      const caller = startDialingAgent({ token, directory: folder, servers, within: distance.within });
      callers.push(caller);
      await caller.untilOutput(1);
      const fifo = makeFifo(join(folder, "begun"));
      const command = "echo run >> runs; exec 3>begun; until test -e gate; do sleep 0.05; done; cat runs";
      const chatId = await other.api.createChat(`run \`${command}\``, { workspaceId });
      const follower = other.api.follow(chatId);
      await fifo.opened;
      await killed.end("SIGKILL");
      await caller.untilOutput(2);
      await writeFile(join(folder, "gate"), "");
      await follower.untilStatus("WAITING", "ERROR");
      await follower.close();
      expect(caller.lines.map(({ server }) => server)).toEqual(servers.map((server) => `${server}/agents`));
      expect(await resultOf(other, chatId)).toMatchObject({ isError: false, result: { output: "run\n" } });
    },
  );
});

describe.skipIf(!hasRedis)("several replicas", () => {
  test("[A16] replicas without a shared secret refuse each other, and a turn there gets an error", async () => {
    const apiServer = await environment.start(replica(await freePort(), { PARLEY_ROLE: "api" }));
    const { workspaceId, token } = await addWorkspace(apiServer);
    await call(token, [apiServer]).untilOutput(1);
    const without = { PARLEY_ROLE: "worker", PARLEY_REPLICA_URL: "", PARLEY_REPLICA_SECRET: "" };
    await environment.start(replica(0, without));
    expect(await runCommand(apiServer, workspaceId, "ls")).toMatchObject({
      isError: true,
      result: { error: "The workspace cannot be reached right now. Try again in a moment." },
    });
  });

  test("[A16] a caller that claims to be a replica without the secret is refused, and so is a request for an unknown connection", async () => {
    const port = await freePort();
    await environment.start(replica(port, { PARLEY_ROLE: "api" }));
    const passage = { workspaceId: randomUUID(), registrationId: randomUUID() };
    const knock = async (secret: string) => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/agents/replica`, {
        headers: {
          authorization: `Bearer ${createReplicaToken(secret, passage)}`,
          "parley-workspace-id": passage.workspaceId,
          "parley-agent-registration": passage.registrationId,
        },
      });
      socket.on("error", () => undefined);
      const [, response] = (await once(socket, "unexpected-response")) as [unknown, { statusCode: number }];
      socket.terminate();
      return response.statusCode;
    };
    const statuses = [await knock("a guess of the secret"), await knock("the-secret-of-the-replicas")];
    expect(statuses).toEqual([401, 404]);
  });

  test("[A16] a Redis that lost its data learns all connections again with their next renewal", async () => {
    const apiServer = await environment.start(replica(await freePort(), { PARLEY_ROLE: "api" }));
    const { workspaceId, token } = await addWorkspace(apiServer);
    await call(token, [apiServer]).untilOutput(1);
    await environment.start(replica(0, { PARLEY_ROLE: "worker" }));
    await redis.restart();
    // The turn waits until the agent is connected again.
    expect(await runCommand(apiServer, workspaceId, "pwd")).toMatchObject({
      result: { output: `${folder}\n` },
    });
  });

  test("[A15] a second agent that connects to another replica replaces the first one everywhere", async () => {
    const replicas = await Promise.all([
      environment.start(replica(await freePort(), { PARLEY_ROLE: "api" })),
      environment.start(replica(await freePort())),
    ]);
    const { workspaceId, token } = await addWorkspace(replicas[0]);
    const first = call(token, [replicas[1]]);
    await first.untilOutput(1);
    const elsewhere = await makeFolder();
    const second = call(token, [replicas[0]], { directory: elsewhere });
    await second.untilOutput(1);
    expect(await runCommand(replicas[0], workspaceId, "pwd")).toMatchObject({
      result: { output: `${elsewhere}\n` },
    });
    await first.untilLogged(({ reason }) => String(reason).includes("closed with 4409"));
    await rm(elsewhere, { recursive: true });
  });
});
