import { once } from "node:events";
import { createServer } from "node:http";
import { homedir } from "node:os";
import { rm } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createAgent, type Agent } from "../../src/agent/agent.js";
import { DEFAULT_CONTEXT_PATHS } from "../../src/agent/context/paths.js";
import { createAgentServer } from "../../src/agent/http.js";
import { inheritedEnvironment } from "../../src/agent/process/environment.js";
import { AGENT_CAPABILITIES } from "../../src/agent/protocol/paths.js";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { VERSION } from "../../src/lib/version.js";
import { AgentUnreachable, connectAgent } from "../../src/workspaces/agent-client/agent-connection.js";
import { makeFolder } from "./support.js";

const TOKEN = "the-token-of-this-test";
const log = createLog("silent");

let folder: string;
let agent: Agent;
let server: ReturnType<typeof createAgentServer>;
let url: string;

beforeAll(async () => {
  folder = await makeFolder();
  const options = {
    directory: folder,
    homeDirectory: homedir(),
    contextPaths: DEFAULT_CONTEXT_PATHS,
    environment: inheritedEnvironment(),
  };
  agent = createAgent({ ...options, clock: systemClock, log });
  server = createAgentServer({ agent, token: TOKEN, log });
  url = await server.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(async () => {
  await agent.close();
  await server.close();
  await rm(folder, { recursive: true });
});

type Request = { method?: string; body?: string; headers?: Record<string, string> };

async function ask(path: string, init: Request = {}) {
  const headers = { authorization: `Bearer ${TOKEN}`, ...init.headers };
  const response = await fetch(new URL(path, url), { ...init, headers });
  const body: unknown = await response.json();
  return { status: response.status, body };
}

const post = (body: string, type = "application/json") => ({
  method: "POST",
  body,
  headers: { "content-type": type },
});

test("health has the directory, the version and the id of this start", async () => {
  expect(await connectAgent({ url, token: TOKEN }).health()).toEqual({
    version: 2,
    programVersion: VERSION,
    capabilities: AGENT_CAPABILITIES,
    workingDirectory: folder,
    instanceId: expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
});

test.each(["", "Bearer", "Bearer wrong", `Basic ${TOKEN}`, TOKEN])(
  "nothing is answered to the authorization %j, not even what exists",
  async (authorization) => {
    const refusal = { status: 401, body: { message: "A valid bearer token is required." } };
    for (const path of ["/v1/health", "/v1/processes", "/nowhere"]) {
      expect(await ask(path, { headers: { authorization } })).toEqual(refusal);
    }
  },
);

test("every refusal has a body that says what is wrong", async () => {
  expect(await ask("/nowhere")).toEqual({
    status: 404,
    body: { message: "There is nothing at GET /nowhere." },
  });
  expect(await ask("/v1/processes", post("{"))).toMatchObject({
    status: 400,
    body: { message: expect.any(String) },
  });
  expect(await ask("/v1/processes", post("x", "text/plain"))).toMatchObject({ status: 415 });
  expect(await ask("/v1/processes", post("{}"))).toMatchObject({ status: 400, body: { field: "command" } });
  expect(await ask("/v1/processes", post("null"))).toMatchObject({ status: 400 });
  expect(await ask("/v1/files/edit", post('{"files":[{"path":"a","edits":[]}]}'))).toMatchObject({
    status: 400,
    body: {
      message: "The request is not valid: files.0.edits: At least one edit is required.",
      field: "files.0.edits",
    },
  });
  expect(await ask("/v1/processes/x/output?wait=yes")).toMatchObject({
    status: 400,
    body: { field: "wait" },
  });
  expect(await ask("/v1/processes/x/output?timeoutMs=soon")).toMatchObject({ status: 400 });
});

test("a body that is too large is refused", async () => {
  const body = JSON.stringify({ path: "large", content: "x".repeat(17 * 1024 * 1024) });
  // The server may close the connection while the body is still being sent.
  const outcome = await ask("/v1/files/write", post(body)).catch(() => ({ status: 413 }));
  expect(outcome).toMatchObject({ status: 413 });
});

test.each([
  ["parley-chat-id", "not a chat id"],
  ["parley-ancestor-chat-ids", "not json"],
  ["parley-ancestor-chat-ids", '["ok", 5]'],
])("a malformed %s is refused instead of being taken for no chat", async (name, value) => {
  expect(await ask("/v1/processes", { headers: { [name]: value } })).toEqual({
    status: 400,
    body: { message: `The header ${name} is not valid.`, field: name },
  });
});

test("an agent that is not there, or is something else, counts as unreachable", async () => {
  const other = createServer((_, response) => response.end("hello"));
  other.listen(0, "127.0.0.1");
  await once(other, "listening");
  const address = other.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const connection = connectAgent({ url: `http://127.0.0.1:${address.port}`, token: TOKEN });
  const failure = () => connection.health().catch((error: unknown) => error);

  const something = await failure();
  other.closeAllConnections();
  other.close();
  await once(other, "close");
  const gone = await failure();

  expect([something, gone].every((error) => error instanceof AgentUnreachable)).toBe(true);
  expect([something, gone]).toMatchObject([
    { message: "The workspace agent cannot be reached: it answered 200 without JSON." },
    { message: expect.stringContaining("ECONNREFUSED") as string, cause: expect.any(Error) as Error },
  ]);
});
