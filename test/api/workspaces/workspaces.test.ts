// Workspaces created from templates, by users and by models: whole servers, real agents.
import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeFolder } from "../../agent/support.js";
import type { ApiClient, Follower } from "../../support/clients/api-client.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";
import { hasRedis, startRedis } from "../../support/network/redis.js";
import { ShiftingClock } from "../../support/shifting-clock.js";
import type { Transcript } from "../../support/clients/transcript.js";
import { eventually } from "../../support/eventually.js";

const HOUR_MS = 3_600_000;

let environment: TestEnvironment;
let root: string;
let server: TestParley;
let clock: ShiftingClock;
let templateId: string;
beforeAll(async () => {
  [environment, root] = await Promise.all([createTestEnvironment(), makeFolder()]);
  clock = new ShiftingClock();
  server = await environment.start({ PARLEY_WORKSPACES_DIR: root }, clock);
  templateId = await makeTemplate(server.api, {
    name: "plain",
    defaultTtlMs: String(HOUR_MS),
    spec: { environment: { GREETING: "Hello ${whom}" } },
    parameters: [{ name: "whom", displayName: "Whom", defaultValue: "world" }],
  });
});
afterAll(async () => {
  await environment.remove();
  await rm(root, { recursive: true, force: true });
});

async function makeTemplate(api: ApiClient, more: object): Promise<string> {
  const input = { displayName: "Plain", description: "An empty folder.", provisioner: "LOCAL", spec: {} };
  type Made = { template: { id: string } | null; userErrors: object[] };
  const made = await api.change<Made>("createWorkspaceTemplate", { ...input, ...more }, "template { id }");
  if (made.template === null) throw new Error(JSON.stringify(made.userErrors));
  return made.template.id;
}

type Shown = {
  id: string;
  name: string;
  status: string;
  failure: string | null;
  lastUsedAt: string;
  autostopAt: string | null;
  template: { name: string } | null;
};
const FIELDS = "id name status failure lastUsedAt autostopAt template { name }";

async function workspaceOf(api: ApiClient, id: string): Promise<Shown | null> {
  const query = `query ($id: ID!) { node(id: $id) { ... on Workspace { ${FIELDS} } } }`;
  return (await api.get<{ node: Shown | null }>(query, { id })).node;
}

async function workspaceOfChat(api: ApiClient, chatId: string): Promise<Shown | null> {
  const query = `query ($id: ID!) { chat(id: $id) { workspace { ${FIELDS} } } }`;
  return (await api.get<{ chat: { workspace: Shown | null } }>(query, { id: chatId })).chat.workspace;
}

function untilStatus(api: ApiClient, id: string, status: string): Promise<Shown> {
  return eventually(async () => {
    const shown = await workspaceOf(api, id);
    expect(shown).toMatchObject({ status });
    return shown as Shown;
  });
}

/** Runs one turn of a chat and returns its tool results. */
async function turn(api: ApiClient, chatId: string, text: string): Promise<unknown[]> {
  const follower = await api.followFromNow(chatId);
  const before = follower.transcript.log.length;
  await api.send(chatId, text);
  await follower.until(({ log }) => log.lastIndexOf("status WAITING") >= before);
  await follower.close();
  return lastResults(api, chatId);
}

/** Tool results of the newest turn. */
async function lastResults(api: ApiClient, chatId: string): Promise<unknown[]> {
  const nodes = (await api.chat(chatId))?.messages.nodes ?? [];
  const newest = nodes.slice(nodes.findLastIndex(({ role }) => role === "USER"));
  return newest
    .filter(({ role }) => role === "TOOL")
    .flatMap(({ parts }) => parts.map(({ result }) => result));
}

const outputOf = ({ preview }: Transcript) => [...(preview?.outputs.values() ?? [])].join("|");

/** Runs a new chat's first turn; `heard` has all output of its tools while they ran. */
async function firstTurn(api: ApiClient, text: string): Promise<{ chatId: string; heard: string }> {
  const { chatId, follower } = await api.quietChat({ workspaceId: null });
  const heard = hearing(follower);
  await api.send(chatId, text);
  await follower.until(({ messages, status }) => messages.length > 3 && status === "WAITING");
  await follower.close();
  return { chatId, heard: heard() };
}

function hearing(follower: Follower): () => string {
  let heard = "";
  // Never true: only keeps the stream open until it is closed.
  follower
    .until((transcript) => {
      const output = outputOf(transcript);
      if (output.length > heard.length) heard = output;
      return false;
    })
    .catch(() => undefined);
  return () => heard;
}

async function made(api: ApiClient, more: object = {}): Promise<Shown> {
  const input = { templateId, ...more };
  type Made = { workspace: Shown | null; userErrors: object[] };
  const { workspace, userErrors } = await api.change<Made>(
    "createWorkspace",
    input,
    `workspace { ${FIELDS} }`,
  );
  if (workspace === null) throw new Error(JSON.stringify(userErrors));
  return workspace;
}

const CREATE = 'call `create_workspace` with `{"template": "plain", "parameters": {"whom": "Ada"}}`';
const START = "call `start_workspace` with `{}`";

test("a model creates a workspace, works there, and finds its files after an idle hour and a restart", async () => {
  const { api } = server;
  const { chatId, heard } = await firstTurn(api, `${CREATE}, then run \`echo "$GREETING" > kept.txt; pwd\``);
  const bound = await workspaceOfChat(api, chatId);
  const directory = join(root, bound?.id.slice("ws_".length) ?? "");
  expect(await lastResults(api, chatId)).toMatchObject([
    { created: true, workspace_name: bound?.name, agent_status: "ready" },
    { success: true, output: `${directory}\n` },
  ]);
  expect(bound).toMatchObject({ status: "RUNNING", failure: null, template: { name: "plain" } });
  expect(bound?.name).toMatch(/^plain-[0-9a-f]{4}$/);
  expect(Date.parse(bound?.autostopAt ?? "") - Date.parse(bound?.lastUsedAt ?? "")).toBe(HOUR_MS);
  expect(heard).toContain("Creating a workspace from the template Plain.");
  const id = bound?.id ?? "";

  // Just before the limit it still exists, and its use extends the time.
  clock.shift(HOUR_MS - 300_000);
  expect(await turn(api, chatId, "run `cat kept.txt`")).toMatchObject([{ output: "Hello Ada\n" }]);
  clock.shift(HOUR_MS / 2);
  expect(await turn(api, chatId, "run `ls`")).toMatchObject([{ output: "kept.txt\n" }]);
  clock.shift(HOUR_MS);
  expect(await untilStatus(api, id, "STOPPED")).toMatchObject({ autostopAt: null });

  expect(await turn(api, chatId, "run `cat kept.txt`")).toEqual([
    { error: "The workspace is stopped. Call start_workspace, then try again." },
  ]);
  const again = await turn(api, chatId, `${START}, then run \`cat kept.txt\``);
  expect(again).toMatchObject([
    { started: true, workspace_name: bound?.name, agent_status: "ready" },
    { success: true, output: "Hello Ada\n" },
  ]);

  await api.change("deleteWorkspace", { workspaceId: id }, "deletedId");
  await eventually(async () => expect(await workspaceOf(api, id)).toBeNull());
  expect([existsSync(directory), await workspaceOfChat(api, chatId)]).toEqual([false, null]);
});

test("concurrent calls create one workspace, and no second one while the first works", async () => {
  const { api } = server;
  const { chatId } = await firstTurn(api, `${CREATE}, and ${CREATE}`);
  const results = await lastResults(api, chatId);
  const again = await turn(api, chatId, CREATE);
  const name = (await workspaceOfChat(api, chatId))?.name;
  expect([...results, ...again]).toMatchObject([
    { created: true, workspace_name: name },
    { created: false, status: "already_exists", workspace_name: name, agent_status: "ready" },
    { created: false, status: "already_exists", workspace_name: name, agent_status: "ready" },
  ]);
});

test("a model lists the templates, and gets errors for invalid arguments", async () => {
  const { api } = server;
  const { chatId } = await firstTurn(
    api,
    'call `list_templates` with `{}`, then call `read_template` with `{"template": "plain"}`',
  );
  const template = { template: "plain", display_name: "Plain", description: "An empty folder." };
  expect(await lastResults(api, chatId)).toEqual([
    { templates: [template], page: 1, total_pages: 1, total_count: 1 },
    {
      ...template,
      parameters: [
        { name: "whom", display_name: "Whom", description: "", required: false, default: "world" },
      ],
    },
  ]);
  const create = (args: object) =>
    turn(api, chatId, `call \`create_workspace\` with \`${JSON.stringify(args)}\``);
  expect([
    await create({ template: "unknown" }),
    await create({ template: "plain", parameters: { who: "Ada" } }),
    await turn(api, chatId, START),
  ]).toEqual([
    [{ error: "There is no such template. Call list_templates to see which there are." }],
    [{ error: "The template has no such parameter; it has: whom." }],
    [{ error: "This chat has no workspace. Call list_templates, then create_workspace." }],
  ]);
});

test("users create, stop, start and delete a workspace, and attach a chat to it", async () => {
  const { api } = server;
  const { id } = await made(api, { name: "by-hand" });
  expect(await untilStatus(api, id, "RUNNING")).toMatchObject({ name: "by-hand", failure: null });
  const { chatId, follower } = await api.quietChat({ workspaceId: null });
  await follower.close();
  await api.change("attachWorkspace", { chatId, workspaceId: id }, "chat { id }");
  expect(await turn(api, chatId, 'run `echo "$GREETING" | tee kept.txt`')).toMatchObject([
    { output: "Hello world\n" },
  ]);
  const change = (name: string) =>
    api.change<{ workspace: { status: string } }>(name, { workspaceId: id }, "workspace { status }");
  expect((await change("stopWorkspace")).workspace.status).toBe("STOPPING");
  await untilStatus(api, id, "STOPPED");
  expect((await change("stopWorkspace")).workspace.status).toBe("STOPPED");
  expect((await change("startWorkspace")).workspace.status).toBe("STARTING");
  await untilStatus(api, id, "RUNNING");
  expect(await turn(api, chatId, "run `cat kept.txt`")).toMatchObject([{ output: "Hello world\n" }]);
});

test("invalid inputs are refused with every problem and its field", async () => {
  const refused = async (name: string, input: object) =>
    (
      await server.api.change<{ userErrors: { code: string; path: string[] | null }[] }>(
        name,
        input,
        "__typename",
      )
    ).userErrors.map(({ code, path }) => [code, path?.join(".") ?? null]);
  await made(server.api, { name: "taken" });
  const parameters = [{ name: "nobody", value: "x" }];
  expect({
    both: await refused("createWorkspace", { templateId, name: "Not a name", parameters }),
    taken: await refused("createWorkspace", { templateId, name: "taken" }),
    default: await refused("stopWorkspace", { workspaceId: server.workspaceId }),
    spec: await refused("createWorkspaceTemplate", {
      ...{ name: "bad", displayName: "Bad", provisioner: "LOCAL", defaultTtlMs: "1" },
      spec: { environment: { PARLEY_AGENT_TOKEN: "${whom}" }, image: "x" },
    }),
    used: await refused("deleteWorkspaceTemplate", { templateId }),
  }).toEqual({
    both: [
      ["INVALID", "name"],
      ["INVALID", "parameters.0.name"],
    ],
    taken: [["CONFLICT", "name"]],
    default: [["CONFLICT", "workspaceId"]],
    spec: [
      ["INVALID", "defaultTtlMs"],
      ["INVALID", "spec"],
      ["INVALID", "spec.environment.PARLEY_AGENT_TOKEN"],
      ["INVALID", "spec"],
    ],
    used: [["CONFLICT", "templateId"]],
  });
});

test("a long turn keeps its workspace running, whatever its idle time", async () => {
  const { api } = server;
  const { id } = await made(api);
  const before = await untilStatus(api, id, "RUNNING");
  const { chatId, follower } = await api.quietChat({ workspaceId: id });
  await api.send(chatId, "run `until [ -e gate ]; do sleep 0.05; done; echo through`");
  await follower.until(({ status }) => status === "RUNNING");
  // The connection must not count these hours as silence.
  await follower.close();
  // Twice the idle time passes within the turn; the worker's heartbeat records the use.
  for (let hours = 0; hours < 2; hours++) clock.shift(HOUR_MS);
  await eventually(async () => {
    const { status, lastUsedAt } = (await workspaceOf(api, id)) ?? before;
    const usedAfterMs = Date.parse(lastUsedAt) - Date.parse(before.lastUsedAt);
    expect([status, usedAfterMs > HOUR_MS]).toEqual(["RUNNING", true]);
  });
  await writeFile(join(root, id.slice("ws_".length), "gate"), "");
  const late = api.follow(chatId);
  await late.untilStatus("WAITING");
  await late.close();
  expect(await lastResults(api, chatId)).toMatchObject([{ success: true, output: "through\n" }]);
});

describe.skipIf(!hasRedis)("two servers", () => {
  test("use one workspace with an agent each, and both disconnect when it is stopped", async () => {
    // By its clock, which is hours ahead, their workspaces would have been idle for long.
    await server.close();
    const redis = await startRedis();
    const settings = { PARLEY_WORKSPACES_DIR: root, REDIS_URL: redis.url, PARLEY_ROLE: "all" };
    const servers = [await environment.start(settings), await environment.start(settings)] as const;
    const [one, other] = servers;
    const { id } = await made(one.api);
    await untilStatus(other.api, id, "RUNNING");
    const AGENT = "query ($id: ID!) { node(id: $id) { ... on Workspace { agent { workingDirectory } } } }";
    const { chatId, follower } = await one.api.quietChat({ workspaceId: id });
    await follower.close();
    // The agent dies during the turn, which continues with its replacement.
    expect(
      await turn(other.api, chatId, "run `echo kept > file; kill -9 $PPID`, then run `cat file`"),
    ).toMatchObject([{ success: false }, { success: true, output: "kept\n" }]);
    await other.api.change("stopWorkspace", { workspaceId: id }, "workspace { id }");
    await untilStatus(one.api, id, "STOPPED");
    for (const { api } of servers) {
      await eventually(async () => expect(await api.get(AGENT, { id })).toEqual({ node: { agent: null } }));
    }
    await one.api.change("startWorkspace", { workspaceId: id }, "workspace { id }");
    await untilStatus(other.api, id, "RUNNING");
    expect(await turn(one.api, chatId, "run `cat file`")).toMatchObject([
      { success: true, output: "kept\n" },
    ]);
    for (const { close } of servers) await close();
    await redis.stop();
  });
});
