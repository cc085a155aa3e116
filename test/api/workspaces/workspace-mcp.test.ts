// A repository's own MCP servers, from its `.mcp.json` to the model and back.
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { builtInTools, isToolAvailable } from "../../../src/engine/tools/registry.js";
import {
  linesOf,
  memoryServer,
  officialServer,
  testServer,
  until,
  writeServers,
  type Entry,
} from "../../agent/mcp/mcp-support.js";
import { startGatedModel, type GatedModel } from "../../support/models/gated-model.js";
import { bridgeToHttp, type Bridge } from "../../support/mcp/mcp-bridge.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";

let environment: TestEnvironment;
let model: GatedModel;
let parley: TestParley;
const bridges: Bridge[] = [];
beforeAll(async () => {
  [environment, model] = await Promise.all([createTestEnvironment(), startGatedModel()]);
  parley = await environment.start({ ...model.settings, PARLEY_MCP_ALLOW: "*" });
});
afterEach(async () => {
  await Promise.all(bridges.splice(0).map((bridge) => bridge.close()));
  await rm(inRepository(".mcp.json"), { force: true });
});
afterAll(async () => {
  await environment.remove();
  await model.close();
});

const inRepository = (path: string) => join(environment.repository.folder, path);
const writeRepositoryServers = (servers: Record<string, object>) =>
  writeServers(environment.repository.folder, servers);

async function overHttp(entry: Entry): Promise<object> {
  const bridge = await bridgeToHttp(entry);
  bridges.push(bridge);
  return { type: "http", url: bridge.url };
}

/** Sends an instruction to the demo model; returns the results of its calls and its last text. */
async function turn(request: string, more: object = {}) {
  const workspaceId: string | null = parley.workspaceId;
  const { chatId, follower } = await parley.api.quietChat({ workspaceId, ...more });
  await parley.api.send(chatId, request);
  await follower.until(({ log }) => ["status WAITING", "error"].some((end) => log.at(-1)?.startsWith(end)));
  const { log } = follower.transcript;
  await follower.close();
  const messages = (await parley.api.chat(chatId))?.messages.nodes ?? [];
  const results = messages.filter(({ role }) => role === "TOOL").flatMap(({ parts }) => parts);
  return { results, end: log.at(-1), toolNames: model.requests.at(-1)?.tools.map(({ name }) => name) ?? [] };
}

/** Waits until a turn has the tools of these servers: on a busy machine the first turn may be too early. */
async function ready(...servers: string[]): Promise<void> {
  const areAvailable = async () => {
    const { toolNames } = await turn("hello");
    return servers.every((server) => toolNames.some((name) => name.startsWith(`${server}__`)));
  };
  await until(areAvailable, "the servers are ready");
}

describe.each([
  ["over stdio", "s", (entry: Entry): Promise<object> => Promise.resolve(entry)],
  ["over streamable HTTP", "h", overHttp],
])("the official servers %s", (_, letter, reached) => {
  // Unique names, so that no turn has the tools of earlier servers.
  const [everything, filesystem, memory] = ["everything", "filesystem", "memory"].map(
    (name) => `${letter}-${name}`,
  );
  test("[M26] [M28] work in a turn", async () => {
    await environment.repository.write("note.txt", "remember the milk");
    await writeRepositoryServers({
      [`${everything}`]: await reached(officialServer("everything")),
      [`${filesystem}`]: await reached(officialServer("filesystem", environment.repository.folder)),
      [`${memory}`]: await reached(memoryServer(inRepository(`memory-${randomUUID()}.jsonl`))),
    });
    await ready(`${everything}`, `${filesystem}`, `${memory}`);
    const entity = { name: "Ada", entityType: "person", observations: ["counts"] };
    const { results, toolNames } = await turn(
      [
        `call ${everything}__echo with \`{"message": "hello"}\``,
        `call ${everything}__get-tiny-image`,
        `call ${filesystem}__read_text_file with \`{"path": ${JSON.stringify(inRepository("note.txt"))}}\``,
        `call ${memory}__create_entities with \`${JSON.stringify({ entities: [entity] })}\``,
        `call ${memory}__search_nodes with \`{"query": "Ada"}\``,
        `call ${everything}__get-sum`,
      ].join(", then "),
    );
    const found = JSON.stringify({ entities: [entity], relations: [] }, null, 2);
    expect(results).toMatchObject([
      { result: "Echo: hello", isError: false },
      {
        result: expect.stringMatching(
          /^Here's the image .*\n\[image: image\/png, \d+ bytes, file image-2\.png\]\n/,
        ) as string,
        isError: false,
      },
      { result: "remember the milk", isError: false },
      { result: JSON.stringify([entity], null, 2), isError: false },
      { result: found, isError: false },
      {
        result: { error: expect.stringContaining("Invalid arguments for tool get-sum") as string },
        isError: true,
      },
    ]);
    const own = toolNames.filter((name) => name.includes("__"));
    const ours = builtInTools.filter((tool) =>
      isToolAvailable(tool, { hasWorkspace: true, mayProvision: false, hasSkills: false }),
    );
    expect([own.length > 30, toolNames]).toEqual([
      true,
      [...ours.map(({ name }) => name), ...own.toSorted()],
    ]);
  });
});

test("[M22] [M28] a server that is killed during a call fails that call, and the next turn starts a new one", async () => {
  const [log, starts] = [inRepository("log"), inRepository("starts")];
  await writeRepositoryServers({ one: testServer({ STARTS: starts }) });
  await ready("one");
  const first = turn(`call one__slow with ${JSON.stringify({ log })}`);
  await until(() => linesOf(log).includes("called"), "the call has begun");
  process.kill(Number(linesOf(starts).at(-1)), "SIGKILL");
  const { results, end } = await first;
  expect([results, end]).toMatchObject([
    [
      {
        result: {
          error:
            "The MCP server one failed: MCP error -32000: Connection closed. It ended (SIGKILL) during the call.",
        },
        isError: true,
      },
    ],
    "status WAITING",
  ]);
  expect((await turn("call one__progress")).results).toMatchObject([{ result: "told", isError: false }]);
  expect(linesOf(starts).length).toBe(2);
});

test("[M20] interrupting a turn cancels its call at the server", async () => {
  const log = inRepository("interrupted");
  await writeRepositoryServers({ one: testServer() });
  await ready("one");
  const chatId = await parley.api.createChat(`call one__slow with ${JSON.stringify({ log })}`, {
    workspaceId: parley.workspaceId,
  });
  const follower = parley.api.follow(chatId);
  await until(() => linesOf(log).includes("called"), "the call has begun");
  await parley.api.change("interruptChat", { chatId }, "chat { id }");
  await follower.untilStatus("WAITING");
  await until(() => linesOf(log).includes("cancelled"), "the server hears of it");
  await follower.close();
});

test("[M27] failing servers fail no turn, and a chat without the workspace is offered none", async () => {
  await writeRepositoryServers({
    missing: { command: "no-such-program-anywhere" },
    wrong: {},
    "my server": testServer({ TOOLS: "progress" }),
  });
  await ready("my_server");
  const { results, end, toolNames } = await turn("call my_server__progress");
  expect([results, end]).toMatchObject([[{ result: "told" }], "status WAITING"]);
  expect(toolNames.filter((name) => name.includes("__"))).toEqual(["my_server__progress"]);
  const without = await turn("call my_server__progress", { workspaceId: null });
  const ofWorkspaces = builtInTools.filter(({ worksOn }) => worksOn === undefined).map(({ name }) => name);
  const left = without.toolNames.filter((name) => name.includes("__") || ofWorkspaces.includes(name));
  expect([without.results, left]).toEqual([[], []]);
});

test("a workspace shows the tools of its own servers to its owner", async () => {
  await writeRepositoryServers({ shown: testServer({ TOOLS: "progress" }) });
  await ready("shown");
  const query = `query ($id: ID!) { node(id: $id) { ... on Workspace { agent { mcpTools { name isAllowed } } } } }`;
  const { node } = await parley.api.get<{ node: unknown }>(query, { id: parley.workspaceId });
  expect(node).toEqual({ agent: { mcpTools: [{ name: "shown__progress", isAllowed: true }] } });
});

test("[M26] a client tool of the same name takes precedence", async () => {
  await writeRepositoryServers({ one: testServer({ TOOLS: "progress,refuse" }) });
  await ready("one");
  const tool = { name: "one__progress", description: "The client's.", inputSchema: { type: "object" } };
  const { chatId, follower } = await parley.api.quietChat({
    workspaceId: parley.workspaceId,
    clientTools: [tool],
  });
  await parley.api.send(chatId, "call one__progress");
  await follower.untilStatus("REQUIRES_ACTION");
  await follower.close();
  const toolNames = model.requests.at(-1)?.tools.filter(({ name }) => name.startsWith("one__"));
  expect(toolNames?.map(({ name }) => name)).toEqual(["one__refuse", "one__progress"]);
});
