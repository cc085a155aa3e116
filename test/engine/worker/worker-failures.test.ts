// Models that fail, clients that answer their own tools or do not, and bugs: no chat is ever stuck.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ScriptStep } from "../../../src/demo-model/answer.js";
import { CLIENT_TOOL_DEADLINE_MS } from "../../../src/domain/common/limits.js";
import type { Tool } from "../../../src/engine/tools/tool.js";
import { isAtRest, World, type Replica } from "../world.js";
import { eventually } from "../../support/eventually.js";

let world: World;
let replica: Replica;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());
beforeEach(() => {
  world.answer = () => undefined;
});
afterEach(() => world.closeReplicas());

async function start(tools: readonly Tool[] = []): Promise<void> {
  replica = world.replica({ tools });
  await replica.worker.start();
}

const REST = {
  status: "waiting",
  runnerId: null,
  retry: null,
  lastError: null,
  openCalls: [],
  queuedIds: [],
};

describe("a model that fails", () => {
  test("is retried after a notice, which disappears with the answer", async () => {
    await start();
    world.answers(
      { text: ["Half ", "an answer"], cutAfterDeltas: 1 },
      { error: { status: 529 } },
      { text: "Whole." },
    );
    const firstWait = replica.clock.nextTimer(500);
    const chatId = await world.createChat(replica, "Hello");
    await firstWait;
    expect((await world.state(chatId)).retry).toEqual({
      attempt: 1,
      delayMs: 500,
      retryingAt: replica.clock.now() + 500,
      failure: expect.objectContaining({ isRetryable: true }) as unknown,
    });
    const secondWait = replica.clock.nextTimer(1_000);
    replica.clock.advance(500);
    await secondWait;
    expect((await world.state(chatId)).retry).toMatchObject({
      attempt: 2,
      delayMs: 1_000,
      failure: { kind: "overloaded" },
    });
    replica.clock.advance(1_000);
    expect(await world.until(chatId, isAtRest)).toMatchObject(REST);
    expect(await world.historyLines(chatId)).toEqual(["user: Hello", "assistant: Whole."]);
    expect((await world.history(chatId)).at(-1)).toMatchObject({ runtimeMs: 1_500, generation: "gen_1_3" });
  });

  test("for good ends the turn with its reason, and the next message retries", async () => {
    await start();
    world.answers({ error: { status: 401, message: "no such key" } }, { text: "Now it works." });
    const chatId = await world.createChat(replica, "Hello");
    expect(await world.untilStatus(chatId, "error")).toMatchObject({
      ...REST,
      status: "error",
      lastError: { kind: "auth", isRetryable: false, provider: "anthropic", httpStatus: 401 },
    });
    await world.send(replica, chatId, "Again");
    expect(await world.untilStatus(chatId, "waiting")).toMatchObject(REST);
    expect(await world.historyLines(chatId)).toEqual([
      "user: Hello",
      "user: Again",
      "assistant: Now it works.",
    ]);
  });

  test("by content filter keeps its text and reports the filter", async () => {
    await start();
    world.answers({ text: "I was going to", finish: "content-filter" });
    const chatId = await world.createChat(replica, "Hello");
    expect(await world.untilStatus(chatId, "error")).toMatchObject({
      lastError: { kind: "content_filtered", isRetryable: false },
    });
    expect(await world.historyLines(chatId)).toEqual(["user: Hello", "assistant: I was going to"]);
  });

  test("by calling tools and filtering at once leaves no call open for the next turn", async () => {
    await start();
    world.answers(
      { text: "I", toolCalls: [{ id: "a", name: "nothing", arguments: {} }], finish: "content-filter" },
      { text: "Hm." },
    );
    const chatId = await world.createChat(replica, "Hello");
    await world.untilStatus(chatId, "error");
    await world.send(replica, chatId, "And now?");
    expect(await world.untilStatus(chatId, "waiting")).toMatchObject(REST);
    expect(await world.historyLines(chatId)).toEqual([
      "user: Hello",
      "assistant: I a=nothing({})",
      'tool: a!={"error":"The call was cancelled before it had a result."}',
      "user: And now?",
      "assistant: Hm.",
    ]);
  });

  test("by an empty answer is retried once, and then fails", async () => {
    await start();
    world.answers({ text: "" }, { reasoning: "Hm.", text: " \n" }, { text: "" }, { text: "Here I am." });
    const chatId = await world.createChat(replica, "Hello");
    expect(await world.until(chatId, isAtRest)).toMatchObject({
      status: "error",
      lastError: { kind: "empty_answer", isRetryable: true },
    });
    expect(await world.historyLines(chatId)).toEqual(["user: Hello"]);
    await world.send(replica, chatId, "Well?");
    await world.until(chatId, (state) => state.status === "waiting");
    expect((await world.historyLines(chatId)).at(-1)).toBe("assistant: Here I am.");
  });
});

test("a model that does not exist ends the turn with what an administrator must do", async () => {
  await start();
  const chatId = await world.createChat(replica, "Hello");
  await world.until(chatId, isAtRest);
  await world.run("UPDATE model_providers SET is_enabled = false");
  const late = world.replica();
  await replica.worker.close();
  await late.worker.start();
  await world.send(late, chatId, "Still?");
  expect(await world.untilStatus(chatId, "error")).toMatchObject({
    lastError: { kind: "provider_disabled", isRetryable: false },
  });
  await world.run("UPDATE model_providers SET is_enabled = true");
});

test("a bug inside a run ends the turn in an error with a reference", async () => {
  replica = world.replica();
  replica.dependencies.model.deploymentPrompt = () => Promise.reject(new Error("no settings today"));
  await replica.worker.start();
  const chatId = await world.createChat(replica, "Hello");
  expect(await world.untilStatus(chatId, "error")).toMatchObject({
    runnerId: null,
    lastError: {
      kind: "internal",
      message: expect.stringMatching(
        /^Something went wrong inside Parley \(reference [0-9a-f-]{36}\)\.$/,
      ) as unknown,
      isRetryable: true,
    },
  });
});

describe("tools that the client runs", () => {
  const clientTools = [{ name: "ask", description: "Asks.", inputSchema: { type: "object" } }];
  const calls: ScriptStep = {
    toolCalls: [
      { id: "a", name: "ask", arguments: { what: "age" } },
      { id: "b", name: "work", arguments: {} },
      { id: "c", name: "ask", arguments: { what: "name" } },
    ],
  };
  const work: Tool = {
    name: "work",
    description: "Works.",
    inputSchema: { type: "object" },
    run: () => Promise.resolve({ result: "worked", isError: false }),
  };

  async function startAwaitingClient(): Promise<string> {
    await start([work]);
    world.answers(calls, { text: "Thanks." });
    const chatId = await world.createChat(replica, "Go", { workspaceId: world.workspaceId, clientTools });
    expect(await world.untilStatus(chatId, "requires_action")).toMatchObject({
      runnerId: null,
      actionDeadlineAt: replica.clock.now() + CLIENT_TOOL_DEADLINE_MS,
      openCalls: [
        { toolCallId: "a", toolName: "ask", isClient: true, arguments: { what: "age" } },
        { toolCallId: "c", toolName: "ask", isClient: true, arguments: { what: "name" } },
      ],
    });
    return chatId;
  }

  const before = [
    "user: Go",
    'assistant: a=ask({"what":"age"}) b=work({}) c=ask({"what":"name"})',
    'tool: b="worked"',
  ];

  test("wait for its answers, which must be exact, and then the turn continues", async () => {
    const chatId = await startAwaitingClient();
    const submit = (...ids: string[]) =>
      replica.commands.submitToolResults(world.viewer, {
        chatId,
        results: ids.map((toolCallId) => ({ toolCallId, result: `answer ${toolCallId}`, isError: false })),
      });
    for (const wrong of [[], ["a"], ["a", "b"], ["a", "c", "x"], ["a", "a", "c"]]) {
      expect(await submit(...wrong)).toMatchObject({ ok: false, refusal: { code: "CONFLICT" } });
    }
    expect(await submit("c", "a")).toMatchObject({ ok: true });
    expect(await world.untilStatus(chatId, "waiting")).toMatchObject(REST);
    expect(await world.historyLines(chatId)).toEqual([
      ...before,
      'tool: a="answer a" c="answer c"',
      "assistant: Thanks.",
    ]);
    expect(await submit("c", "a")).toMatchObject({ ok: false, refusal: { code: "CONFLICT" } });
  });

  test("are answered as timed out at the deadline", async () => {
    const chatId = await startAwaitingClient();
    replica.clock.advance(CLIENT_TOOL_DEADLINE_MS - 1);
    expect((await world.state(chatId)).status).toBe("requires_action");
    // A tick during an unfinished check of the deadlines is skipped; one of the next checks them.
    await eventually(async () => {
      replica.clock.advance(1_000);
      expect(await world.state(chatId)).toMatchObject(REST);
    });
    const error = '{"error":"The client did not answer this call in time."}';
    expect(await world.historyLines(chatId)).toEqual([
      ...before,
      `tool: a!=${error} c!=${error}`,
      "assistant: Thanks.",
    ]);
  });

  test("are cancelled by an interrupting message", async () => {
    const chatId = await startAwaitingClient();
    await world.send(replica, chatId, "Never mind", "interrupt");
    expect(await world.untilStatus(chatId, "waiting")).toMatchObject(REST);
    const error = '{"error":"The call was cancelled before it had a result."}';
    expect(await world.historyLines(chatId)).toEqual([
      ...before,
      `tool: a!=${error} c!=${error}`,
      "user: Never mind",
      "assistant: Thanks.",
    ]);
  });
});
