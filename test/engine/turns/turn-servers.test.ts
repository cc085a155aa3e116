// Registered MCP servers in turns: real servers on loopback, a real worker, and the demo model that calls their tools.
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { ScriptStep } from "../../../src/demo-model/answer.js";
import type { DemoRequest } from "../../../src/demo-model/request.js";
import type { MessagePart } from "../../../src/domain/chats/message-parts.js";
import type { McpMeter } from "../../../src/domain/common/meters.js";
import type { McpHeaders } from "../../../src/services/mcp/ports.js";
import type { McpServerValues } from "../../../src/store/mcp/mcp-servers.js";
import { freePort } from "../../support/network/free-port.js";
import { insertServer } from "../../support/mcp/mcp-server-rows.js";
import { startSilentServer } from "../../support/network/silent-server.js";
import {
  startTestMcpServer,
  words,
  type TestMcpServer,
  type TestMcpServerOptions,
} from "../../support/mcp/mcp-test-server.js";
import { World } from "../world.js";

let world: World;
const running: { stop(): Promise<void> }[] = [];
beforeAll(async () => {
  world = await World.open();
});
afterEach(async () => {
  await world.closeReplicas();
  await Promise.all(running.splice(0).map((server) => server.stop()));
  await world.run("DELETE FROM mcp_servers");
});
afterAll(() => world.close());

async function serve(
  slug: string,
  options: TestMcpServerOptions = {},
  overrides: Partial<McpServerValues> = {},
): Promise<TestMcpServer & { id: string }> {
  const server = await startTestMcpServer(options);
  running.push(server);
  const { id } = await insertServer(world.database, {
    slug,
    displayName: slug,
    url: server.url,
    ...overrides,
  });
  return Object.assign(server, { id });
}

/** The counts so far, and a promise of the expected ones. */
function countingMeter() {
  const metered: string[] = [];
  const waiting = new Set<() => void>();
  const note = (line: string) => {
    metered.push(line);
    for (const check of waiting) check();
  };
  const meter: McpMeter = {
    mcpCall: ({ server, outcome }) => note(`call ${server} ${outcome}`),
    mcpConnect: ({ server, outcome }) => note(`connect ${server} ${outcome}`),
  };
  const until = (line: string) =>
    new Promise<void>((resolve) => {
      const check = () => void (metered.includes(line) && resolve());
      waiting.add(check);
      check();
    });
  return { meter, metered, until };
}

/** The model calls each of these in a separate step, then finishes. */
function calls(...asked: [name: string, args: object][]): DemoRequest[] {
  const requests: DemoRequest[] = [];
  const steps: ScriptStep[] = asked.map(([name, args], index) => ({
    toolCalls: [{ id: `c${index}`, name, arguments: args as Record<string, string> }],
  }));
  world.answer = (request) => {
    requests.push(request);
    return steps[requests.length - 1] ?? { text: "Done." };
  };
  return requests;
}

const toolNames = (request: DemoRequest | undefined) => request?.tools.map(({ name }) => name);
const ofType = <Type extends MessagePart["type"]>(parts: MessagePart[], type: Type) =>
  parts.filter((part): part is Extract<MessagePart, { type: Type }> => part.type === type);

async function turn(replica: ReturnType<World["replica"]>, mcpServerIds: string[]) {
  const chatId = await world.createChat(replica, "Go.", { mcpServerIds });
  await replica.worker.start();
  await world.untilStatus(chatId, "waiting");
  return (await world.history(chatId)).flatMap(({ parts }) => parts);
}

test("ten servers of which three hang, two fail and one is slow: the turn starts with the others and shows what is missing", async () => {
  const release = { slow: (): void => undefined };
  const isReleased = new Promise<void>((resolve) => (release.slow = resolve));
  const hangIn = (method: string): TestMcpServerOptions => ({
    before: (asked) => (asked === method ? new Promise<void>(() => undefined) : undefined),
  });
  const hanging = await startSilentServer();
  running.push(hanging);
  const fine = await Promise.all(["fine-1", "fine-2", "fine-3", "fine-4"].map((slug) => serve(slug)));
  const others = await Promise.all([
    serve("slow", { before: (method) => (method === "tools/list" ? isReleased : undefined) }),
    serve("silent", {}, { url: hanging.url }),
    serve("hangs-in-handshake", hangIn("initialize")),
    serve("hangs-in-list", hangIn("tools/list")),
    serve("refused", {}, { url: `http://127.0.0.1:${await freePort()}/mcp` }),
    serve("broken", { before: () => 500 }),
  ]);
  const { meter, until } = countingMeter();
  const replica = world.replica({ mcpServers: { meter } });
  const requests = calls();
  const startedAt = replica.clock.now();
  const chatId = await world.createChat(replica, "Go.", {
    mcpServerIds: [...fine, ...others].map(({ id }) => id),
  });
  let firstRequestAt = Infinity;
  const model = world.answer;
  world.answer = (request) => {
    firstRequestAt = Math.min(firstRequestAt, replica.clock.now());
    return model(request);
  };
  await replica.worker.start();
  await Promise.all(fine.map((_, index) => until(`connect fine-${index + 1} ok`)));
  await Promise.all([until("connect refused unreachable"), until("connect broken unreachable")]);
  replica.clock.advance(8_500);
  release.slow();
  await until("connect slow ok");
  expect(requests).toEqual([]);
  replica.clock.advance(1_500);
  await world.untilStatus(chatId, "waiting");
  expect(firstRequestAt - startedAt).toBeLessThanOrEqual(10_500);
  expect(toolNames(requests[0])).toEqual([
    "fine-1__echo",
    "fine-2__echo",
    "fine-3__echo",
    "fine-4__echo",
    "slow__echo",
  ]);
  const parts = (await world.history(chatId)).at(-1)?.parts ?? [];
  expect(parts.at(-1)).toEqual({ type: "text", text: "Done." });
  const notices = ofType(parts, "notice");
  expect(new Set(notices.map(({ mcpServerId }) => mcpServerId))).toEqual(
    new Set(others.slice(1).map(({ id }) => id)),
  );
  expect(parts.slice(0, 5)).toEqual(notices);
  expect(notices.map(({ text }) => text)).toContain(
    "The MCP server hangs-in-list is not used in this turn: It did not answer within 10 s.",
  );
  expect(JSON.stringify(requests)).not.toContain("is not used");
});

test("results of every kind are returned, calls name their server, progress is shown, and files are stored", async () => {
  const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex").toString("base64");
  const server = await serve("all", {
    tools: {
      echo: ({ args }) => words(`Echo: ${String(args["message"])}`),
      fail: () => ({ ...words("No such city."), isError: true }),
      picture: () => ({
        content: [
          { type: "text", text: "Here it is." },
          { type: "image", data: png, mimeType: "image/png" },
        ],
      }),
      structured: () => ({ content: [], structuredContent: { degrees: 7 } }),
      slow: async ({ progress }) => {
        await progress(1, "half way");
        return words("there");
      },
    },
  });
  const { meter, metered } = countingMeter();
  const replica = world.replica({ mcpServers: { meter } });
  calls(
    ["all__echo", { message: "hi" }],
    ["all__fail", {}],
    ["all__picture", {}],
    ["all__structured", {}],
    ["all__slow", {}],
  );
  const chatId = await world.createChat(replica, "Go.", { mcpServerIds: [server.id] });
  const isShown = world.untilStreamed(chatId, "1: half way\\n");
  await replica.worker.start();
  await world.untilStatus(chatId, "waiting");
  await isShown;
  const parts = (await world.history(chatId)).flatMap((message) => message.parts);
  expect(ofType(parts, "tool-call").map(({ mcpServerId }) => mcpServerId)).toEqual(
    Array.from({ length: 5 }, () => server.id),
  );
  const results = ofType(parts, "tool-result");
  expect(results.map(({ result, isError }) => [result, isError])).toEqual([
    ["Echo: hi", false],
    [{ error: "No such city." }, true],
    ["Here it is.\n[image: image/png, 16 bytes, file image-2.png]", false],
    ['{"degrees":7}', false],
    ["there", false],
  ]);
  const [file] = results[2]?.files ?? [];
  expect(file).toMatchObject({ name: "image-2.png", mediaType: "image/png", sizeBytes: 16 });
  const [storedFile]: { bytes: Buffer }[] = await world.database.dataSource.query(
    "SELECT content AS bytes FROM files WHERE id = $1",
    [file?.fileId],
  );
  expect(storedFile?.bytes.toString("base64")).toBe(png);
  expect(metered).toEqual([
    "connect all ok",
    ...["ok", "tool", "ok", "ok", "ok"].map((end) => `call all ${end}`),
  ]);
});

test("tools that admins deny are not offered, forced servers are in every turn, and names never clash", async () => {
  const tools = { open: () => words("o"), secret: () => words("s") };
  await serve("forced", { tools }, { availability: "force_on", toolDenyList: ["secret"] });
  const chosen = await serve("chosen", { tools }, { toolAllowList: ["secret"] });
  await serve("not-chosen", { tools });
  const off = await serve("off", { tools }, { isEnabled: false });
  await world.run("UPDATE mcp_servers SET is_enabled = true WHERE id = $1", [off.id]);
  const replica = world.replica();
  const requests = calls();
  const clientTools = [{ name: "chosen__secret", description: "", inputSchema: { type: "object" } }];
  const chatId = await world.createChat(replica, "Go.", {
    mcpServerIds: [chosen.id, off.id, chosen.id],
    clientTools,
  });
  await world.run("UPDATE mcp_servers SET is_enabled = false WHERE id = $1", [off.id]);
  world.bus.publishConfigChange("mcp-servers");
  await replica.worker.start();
  await world.untilStatus(chatId, "waiting");
  expect(toolNames(requests[0])).toEqual([
    expect.stringMatching(/^chosen__secret_[0-9a-f]{8}$/),
    "forced__open",
    "chosen__secret",
  ]);
});

test("tools that a server reports as changed are offered in the next step", async () => {
  const server = await serve("moody", {
    tools: {
      change: async () => {
        server.tools["fresh"] = () => words("new");
        await server.notifyToolsChanged();
        return words("changed");
      },
    },
  });
  const requests = calls(["moody__change", {}], ["moody__fresh", {}]);
  const parts = await turn(world.replica(), [server.id]);
  expect(requests.map(toolNames)).toEqual([
    ["moody__change"],
    ["moody__change", "moody__fresh"],
    ["moody__change", "moody__fresh"],
  ]);
  expect(ofType(parts, "tool-result").map(({ result }) => result)).toEqual(["changed", "new"]);
});

test("a server that dies in the middle of a turn makes its calls fail, and is reconnected when it is back", async () => {
  const first = await serve("mortal", {
    tools: {
      die: () => {
        void first.stop();
        return new Promise<object>(() => undefined);
      },
      echo: () => words("alive"),
    },
  });
  running.splice(running.indexOf(first), 1);
  const replica = world.replica();
  const requests = calls(["mortal__die", {}], ["mortal__echo", {}], ["mortal__echo", {}]);
  const model = world.answer;
  world.answer = (request) => {
    if (requests.length === 2)
      void startTestMcpServer({ ...first, port: first.port }).then((again) => running.push(again));
    return model(request);
  };
  const parts = await turn(replica, [first.id]);
  const results = ofType(parts, "tool-result");
  expect(results.map(({ isError }) => isError)).toEqual([true, expect.any(Boolean) as boolean, false]);
  expect(results[0]?.result).toMatchObject({
    error: expect.stringMatching(/^The MCP server mortal failed: /) as string,
  });
  expect(results[2]?.result).toBe("alive");
});

test("concurrent turns send each user's own credentials to the server", async () => {
  const seen = new Set<string | undefined>();
  const both = { arrived: (): void => undefined };
  const areBoth = new Promise<void>((resolve) => (both.arrived = resolve));
  const server = await serve("whoami", {
    tools: {
      whoami: async ({ authorization }) => {
        seen.add(authorization);
        if (seen.size === 2) both.arrived();
        await areBoth;
        return words(authorization ?? "nobody");
      },
    },
  });
  const headersFor = (_: unknown, userId: string): Promise<McpHeaders> =>
    Promise.resolve({ ok: true, headers: { authorization: `Bearer of ${userId}` } });
  const renewedHeaders = (): Promise<McpHeaders> =>
    Promise.resolve({ ok: false, kind: "expired", message: "Connect again." });
  const replica = world.replica({ mcpServers: { authorization: { headersFor, renewedHeaders } } });
  world.answer = ({ turns }) =>
    turns.at(-1)?.role === "results"
      ? { text: "Done." }
      : { toolCalls: [{ name: "whoami__whoami", arguments: {} }] };
  const [other] = await world.run(
    "INSERT INTO users (id, username, name, role) VALUES (gen_random_uuid(), 'ben', 'Ben', 'member') RETURNING id",
  );
  const ben = { ...world.viewer, userId: String(other?.["id"]), role: "member" as const };
  const create = async (viewer: typeof world.viewer) => {
    const input = { parts: [{ type: "text" as const, text: "Who?" }], mcpServerIds: [server.id] };
    const made = await replica.commands.createChat(viewer, input);
    if (!made.ok) throw new Error(made.refusal.message);
    return made.chatId;
  };
  const chats = [await create(world.viewer), await create(ben)];
  await replica.worker.start();
  await Promise.all(chats.map((chatId) => world.untilStatus(chatId, "waiting")));
  const receivedHeaders = await Promise.all(
    chats.map(async (chatId) =>
      ofType(
        (await world.history(chatId)).flatMap(({ parts }) => parts),
        "tool-result",
      ).map(({ result }) => result),
    ),
  );
  expect(receivedHeaders).toEqual([[`Bearer of ${world.viewer.userId}`], [`Bearer of ${ben.userId}`]]);
});

test("credentials that become invalid are renewed once; then the model and users are notified", async () => {
  let good = "old";
  const server = await serve("strict", {
    tools: { echo: () => words("in") },
    before: (_, { headers }) => (headers.authorization === good ? undefined : 401),
  });
  const rejected: unknown[] = [];
  const authorization = {
    headersFor: (): Promise<McpHeaders> => Promise.resolve({ ok: true, headers: { authorization: "old" } }),
    renewedHeaders: (_: unknown, _userId: string, shown: object): Promise<McpHeaders> => {
      rejected.push(shown);
      return Promise.resolve(
        good === "none"
          ? { ok: false, kind: "expired", message: "Connect again." }
          : { ok: true, headers: { authorization: "new" } },
      );
    },
  };
  const requests = calls(["strict__echo", {}], ["strict__echo", {}], ["strict__echo", {}]);
  const model = world.answer;
  world.answer = (request) => {
    good = ["old", "new", "none"][requests.length] ?? "none";
    return model(request);
  };
  const parts = await turn(world.replica({ mcpServers: { authorization } }), [server.id]);
  const results = ofType(parts, "tool-result");
  expect(results.map(({ isError }) => isError)).toEqual([false, false, true]);
  expect(results[2]?.result).toMatchObject({
    error: expect.stringContaining("authorise it again") as string,
  });
  expect(rejected.slice(0, 2)).toEqual([{ authorization: "old" }, { authorization: "new" }]);
  expect(parts.slice(-2)).toMatchObject([
    { type: "notice", mcpServerId: server.id },
    { type: "text", text: "Done." },
  ]);
});

test("an interrupt ends a call at the server too, and does not wait for servers that are being opened", async () => {
  const cancelled = { metered: (): void => undefined };
  const isCancelled = new Promise<void>((resolve) => (cancelled.metered = resolve));
  const arrived = { metered: (): void => undefined };
  const isThere = new Promise<void>((resolve) => (arrived.metered = resolve));
  const server = await serve("patient", {
    tools: {
      wait: ({ signal }) => {
        arrived.metered();
        return new Promise<object>(() =>
          signal.addEventListener("abort", () => cancelled.metered(), { once: true }),
        );
      },
    },
  });
  const hanging = await startSilentServer();
  running.push(hanging);
  const silent = await serve("silent", {}, { url: hanging.url });
  const replica = world.replica();
  calls(["patient__wait", {}]);
  const chatId = await world.createChat(replica, "Go.", { mcpServerIds: [server.id] });
  await replica.worker.start();
  await isThere;
  await replica.commands.interruptChat(world.viewer, chatId);
  await world.untilStatus(chatId, "waiting");
  await isCancelled;

  const second = await world.createChat(replica, "Go.", { mcpServerIds: [silent.id] });
  await world.untilStatus(second, "running");
  await replica.commands.interruptChat(world.viewer, second);
  await world.untilStatus(second, "waiting");
  expect((await world.history(second)).map(({ role }) => role)).toEqual(["user"]);
});
