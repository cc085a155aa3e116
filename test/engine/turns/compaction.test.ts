// Compaction: between steps and after the last, when the vendor refuses the prompt, and on request.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { ScriptStep } from "../../../src/demo-model/answer.js";
import { type DemoRequest, lastUserText } from "../../../src/demo-model/request.js";
import type { LiveDelta, MessageRow, SavedChange } from "../../../src/domain/chats/chat-events.js";
import { defineTool } from "../../../src/engine/tools/tool.js";
import { z } from "zod";
import { isAtRest, World, type Replica } from "../world.js";

let world: World;
let replica: Replica;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());
afterEach(async () => {
  await world.closeReplicas();
  await setModel(200_000, 70);
  await world.run("UPDATE model_configs SET observed_context_limit = NULL");
});

const note = defineTool({
  name: "note",
  description: "Notes a word.",
  parameters: z.object({ word: z.string() }),
  run: ({ word }) => Promise.resolve(`noted ${word}`),
});

/** A worker with the model's current configuration. */
async function start(): Promise<void> {
  replica = world.replica({ tools: [note] });
  await replica.worker.start();
}

async function setModel(contextLimit: number | null, thresholdPercent: number): Promise<void> {
  await world.run("UPDATE model_configs SET context_limit = $1, compaction_threshold_percent = $2", [
    contextLimit,
    thresholdPercent,
  ]);
}

const isSummaryRequest = (request: DemoRequest) =>
  lastUserText(request).includes("Summarise this conversation so that");

/** Answers to plain calls and to requests for a summary, each in order. */
function answers(
  plain: ScriptStep[],
  summaries: ScriptStep[] = [{ text: "All of it, in short." }],
): DemoRequest[] {
  const [nextPlain, nextSummary] = [plain.values(), summaries.values()];
  const requests: DemoRequest[] = [];
  world.answer = (request) => {
    requests.push(request);
    const next = (isSummaryRequest(request) ? nextSummary : nextPlain).next();
    return next.done ? { text: "No more answers." } : next.value;
  };
  return requests;
}

const full = { inputTokens: 800, outputTokens: 10 };
const noteCall = (id: string) => ({ id, name: "note", arguments: { word: id } });

/** The model's prompt, one line per message. */
function prompt(request: DemoRequest | undefined): string[] {
  return (request?.turns ?? []).map((turn) => {
    if (turn.role === "results") return `results: ${turn.results.map(({ text }) => text).join(" ")}`;
    return `${turn.role}: ${turn.text}`;
  });
}

/** All stored messages that are not deleted, in order, with their visibility. */
async function rows(chatId: string): Promise<string[]> {
  const found = await world.run(
    `SELECT role, visibility, is_summary, content FROM chat_messages WHERE chat_id = $1 AND NOT is_deleted ORDER BY id`,
    [chatId],
  );
  return found.map((row) => {
    const parts = row["content"] as { type: string; text?: string; toolName?: string }[];
    const words = parts.map(({ type, text, toolName }) => text ?? `${type} ${toolName}`).join(", ");
    const first = words.split("\n\n").at(-1) ?? "";
    return `${String(row["role"])} for ${String(row["visibility"])}${row["is_summary"] ? " (summary)" : ""}: ${first}`;
  });
}

const NOTICE = "assistant for user (summary): tool-call chat_summarized, tool-result chat_summarized";
const BOUNDARY = "user for model (summary): All of it, in short.";

describe("a context that fills up", () => {
  test("is compacted between two steps, and the turn continues with the summary alone", async () => {
    await setModel(1_000, 70);
    const requests = answers([
      { text: "Noting.", toolCalls: [noteCall("a")], usage: full },
      { text: "Done." },
    ]);
    await start();
    const chatId = await world.createChat(replica, "Note a", { workspaceId: world.workspaceId });
    expect(await world.until(chatId, isAtRest)).toMatchObject({ status: "waiting", lastError: null });
    expect(await rows(chatId)).toEqual([
      "user for both: Note a",
      "assistant for both: Noting., tool-call note",
      "tool for both: tool-result note",
      BOUNDARY,
      NOTICE,
      "assistant for both: Done.",
    ]);
    expect(prompt(requests[1]).slice(0, -1)).toEqual([
      "user: Note a",
      "assistant: Noting.",
      "results: noted a",
    ]);
    expect(prompt(requests[2])).toEqual([expect.stringContaining("All of it, in short.")]);
    expect(requests[1]?.body["tool_choice"]).toEqual({ type: "none" });
  });

  test("is compacted after the last step, and the model is asked to continue", async () => {
    await setModel(1_000, 70);
    const requests = answers([{ text: "An answer.", usage: full }, { text: "And on." }]);
    await start();
    const chatId = await world.createChat(replica, "Hello");
    await world.until(chatId, isAtRest);
    expect(await rows(chatId)).toEqual([
      "user for both: Hello",
      "assistant for both: An answer.",
      BOUNDARY,
      NOTICE,
      "assistant for both: And on.",
    ]);
    expect(requests).toHaveLength(3);
  });

  test("is compacted at most three times in one turn", async () => {
    await setModel(1_000, 0);
    const requests = answers(
      Array.from({ length: 9 }, (_, index) => ({ text: `Answer ${index}.`, usage: full })),
      Array.from({ length: 9 }, () => ({ text: "All of it, in short." })),
    );
    await start();
    const chatId = await world.createChat(replica, "Hello");
    await world.until(chatId, isAtRest);
    expect(requests.filter(isSummaryRequest)).toHaveLength(3);
    expect((await world.state(chatId)).status).toBe("waiting");
  });

  test("is not compacted at 100 percent", async () => {
    await setModel(1_000, 100);
    const requests = answers([{ text: "An answer.", usage: { inputTokens: 5_000 } }]);
    await start();
    await world.until(await world.createChat(replica, "Hello"), isAtRest);
    expect(requests).toHaveLength(1);
  });
});

test("users see the compaction before the model is called, and its result before it is saved", async () => {
  await setModel(1_000, 70);
  answers([{ text: "An answer.", usage: full }, { text: "And on." }]);
  await start();
  const chatId = await world.createChat(replica, "Hello", {});
  const events: string[] = [];
  const saved = ({ state, messages }: SavedChange) => {
    const notices = (messages ?? []).filter(({ visibility }) => visibility === "user").length;
    events.push(`saved ${state.status} ${notices}`);
  };
  const live = ({ deltas }: { deltas: LiveDelta[] }) => {
    for (const { sequence, delta } of deltas)
      if ("toolName" in delta) events.push(`${sequence} ${delta.type}`);
  };
  const stop = await world.bus.subscribeChat(chatId, { saved, live });
  await world.until(chatId, isAtRest);
  stop();
  const from = events.indexOf("1 tool-call");
  expect(events.slice(from, from + 3)).toEqual(["1 tool-call", "2 tool-result", "saved running 1"]);
});

describe("a summary that fails", () => {
  test("is retried after a notice, and the turn continues", async () => {
    await setModel(1_000, 70);
    answers(
      [{ text: "Noting.", toolCalls: [noteCall("a")], usage: full }, { text: "Done." }],
      [{ error: { status: 529 } }, { text: "All of it, in short." }],
    );
    await start();
    const wait = replica.clock.nextTimer(500);
    const chatId = await world.createChat(replica, "Note a");
    await wait;
    expect((await world.state(chatId)).retry).toMatchObject({ failure: { kind: "overloaded" } });
    replica.clock.advance(500);
    await world.until(chatId, isAtRest);
    expect((await rows(chatId)).slice(3)).toEqual([BOUNDARY, NOTICE, "assistant for both: Done."]);
  });

  test("for good is shown, and the turn continues without it", async () => {
    await setModel(1_000, 70);
    const requests = answers(
      [
        { text: "Noting.", toolCalls: [noteCall("a")], usage: full },
        { text: "Done.", usage: full },
      ],
      [{ error: { status: 401 } }],
    );
    await start();
    const chatId = await world.createChat(replica, "Note a");
    expect(await world.until(chatId, isAtRest)).toMatchObject({ status: "waiting" });
    expect((await rows(chatId)).slice(3)).toEqual([NOTICE, "assistant for both: Done."]);
    expect(requests.filter(isSummaryRequest)).toHaveLength(1);
    const [notice] = await world.run(
      `SELECT content FROM chat_messages WHERE chat_id = $1 AND visibility = 'user'`,
      [chatId],
    );
    expect(notice?.["content"]).toMatchObject([{}, { isError: true, result: { error: expect.any(String) } }]);
  });
});

describe("a prompt that the vendor refuses as too long", () => {
  const tooLong = (message = "prompt is too long: 1200 tokens > 1000 maximum"): ScriptStep => ({
    error: { status: 400, type: "invalid_request_error", message },
  });

  test("leads to one compaction that keeps the user's message verbatim, and its limit is learned", async () => {
    await setModel(null, 70);
    const requests = answers([{ text: "One." }, tooLong(), { text: "Two." }]);
    await start();
    const chatId = await world.createChat(replica, "First");
    await world.until(chatId, isAtRest);
    await world.send(replica, chatId, "Second");
    await world.until(chatId, (state) => isAtRest(state) && state.snapshotVersion > 6);
    expect(await rows(chatId)).toEqual([
      "user for both: First",
      "assistant for both: One.",
      "user for both: Second",
      BOUNDARY,
      NOTICE,
      "assistant for both: Two.",
    ]);
    expect(prompt(requests.at(-1))).toEqual([expect.stringMatching(/All of it, in short\.[^]*Second$/)]);
    const [config] = await world.run("SELECT observed_context_limit FROM model_configs");
    expect(config).toEqual({ observed_context_limit: 1_000 });
  });

  test("fails the turn in the vendor's name when there is nothing to fold", async () => {
    const requests = answers([tooLong()]);
    await start();
    const chatId = await world.createChat(replica, "Far too long");
    expect(await world.until(chatId, isAtRest)).toMatchObject({
      status: "error",
      lastError: { kind: "context_too_large", provider: "anthropic" },
    });
    expect(requests).toHaveLength(1);
  });

  test("fails the turn when it is refused again after it was folded", async () => {
    answers([{ text: "One." }, tooLong(), tooLong()]);
    await start();
    const chatId = await world.createChat(replica, "First");
    await world.until(chatId, isAtRest);
    await world.send(replica, chatId, "Second");
    expect(await world.untilStatus(chatId, "error")).toMatchObject({
      lastError: { kind: "context_too_large" },
    });
  });

  test("makes the summary's own prompt shorter until it is taken", async () => {
    const requests = answers(
      [{ text: "x".repeat(40_000) }, tooLong("prompt is too long"), { text: "Two." }],
      [tooLong("prompt is too long"), { text: "All of it, in short." }],
    );
    await start();
    const chatId = await world.createChat(replica, "First");
    await world.until(chatId, isAtRest);
    await world.send(replica, chatId, "Second");
    await world.until(chatId, (state) => isAtRest(state) && state.snapshotVersion > 6);
    const sizes = requests.filter(isSummaryRequest).map(({ sizeCharacters }) => sizeCharacters);
    expect(sizes).toHaveLength(2);
    expect(sizes[1]).toBeLessThan(sizes[0] ?? 0);
    expect((await rows(chatId)).at(-1)).toBe("assistant for both: Two.");
  });
});

describe("a requested summary", () => {
  async function createConversation(): Promise<string> {
    await start();
    const chatId = await world.createChat(replica, "Hello");
    await world.until(chatId, isAtRest);
    return chatId;
  }

  test("gets it, and nothing else runs", async () => {
    const requests = answers([{ text: "One." }]);
    const chatId = await createConversation();
    expect(await replica.commands.compactChat(world.viewer, chatId)).toMatchObject({ ok: true });
    await world.until(chatId, (state) => isAtRest(state) && state.compactionRequestedAt === null);
    expect(await rows(chatId)).toEqual([
      "user for both: Hello",
      "assistant for both: One.",
      BOUNDARY,
      NOTICE,
    ]);
    expect(requests).toHaveLength(2);
  });

  test("is refused when there is nothing to summarise, and when the chat is busy", async () => {
    answers([{ text: "One." }]);
    const chatId = await createConversation();
    await replica.commands.compactChat(world.viewer, chatId);
    await world.until(chatId, (state) => isAtRest(state) && state.compactionRequestedAt === null);
    expect(await replica.commands.compactChat(world.viewer, chatId)).toMatchObject({
      ok: false,
      refusal: { code: "CONFLICT", message: "There is nothing to summarise yet." },
    });
    answers([{ hang: "before-events" }]);
    await world.send(replica, chatId, "Go on");
    await world.untilStatus(chatId, "running");
    expect(await replica.commands.compactChat(world.viewer, chatId)).toMatchObject({
      ok: false,
      refusal: { code: "CONFLICT", currentStatus: "running" },
    });
    await replica.commands.interruptChat(world.viewer, chatId);
    await world.untilStatus(chatId, "waiting");
  });

  test("can be interrupted: nothing of it is stored, and it is not repeated later", async () => {
    const requests = answers([{ text: "One." }, { text: "Two." }], [{ hang: "before-events" }]);
    const chatId = await createConversation();
    await replica.commands.compactChat(world.viewer, chatId);
    await world.untilStreamed(chatId, "chat_summarized");
    await replica.commands.interruptChat(world.viewer, chatId);
    await world.untilStatus(chatId, "waiting");
    await world.send(replica, chatId, "Go on");
    await world.until(chatId, (state) => isAtRest(state) && state.snapshotVersion > 9);
    expect(await rows(chatId)).toEqual([
      "user for both: Hello",
      "assistant for both: One.",
      "user for both: Go on",
      "assistant for both: Two.",
    ]);
    expect(requests.filter(isSummaryRequest)).toHaveLength(1);
  });

  test("may speak meanwhile, and is answered with the summary in place", async () => {
    const requests = answers(
      [{ text: "One." }, { text: "Two." }],
      [{ text: ["All of it, ", "in short."], delayMs: 10 }],
    );
    const chatId = await createConversation();
    const pause = world.modelClock.nextTimer(10);
    await replica.commands.compactChat(world.viewer, chatId);
    await world.untilStreamed(chatId, "chat_summarized");
    await world.send(replica, chatId, "Go on");
    await pause;
    world.modelClock.advance(10);
    await world.until(chatId, (state) => isAtRest(state) && state.queuedIds.length === 0);
    expect((await rows(chatId)).slice(2)).toEqual([
      BOUNDARY,
      NOTICE,
      "user for both: Go on",
      "assistant for both: Two.",
    ]);
    expect(prompt(requests.at(-1))).toEqual([expect.stringMatching(/All of it, in short\.[^]*Go on$/)]);
  });

  test("gets it also when the worker that makes it dies", async () => {
    const requests = answers(
      [{ text: "One." }],
      [{ hang: "before-events" }, { text: "All of it, in short." }],
    );
    const chatId = await createConversation();
    await replica.commands.compactChat(world.viewer, chatId);
    await world.untilStreamed(chatId, "chat_summarized");
    const other = world.replica({ tools: [note] });
    await world.killLease(replica);
    await other.worker.start();
    await world.until(chatId, (state) => isAtRest(state) && state.compactionRequestedAt === null);
    expect((await rows(chatId)).slice(2)).toEqual([BOUNDARY, NOTICE]);
    expect(requests.filter(isSummaryRequest)).toHaveLength(2);
  });
});

test("a context that is cleared starts afresh: the model sees nothing of before", async () => {
  const requests = answers([{ text: "One." }, { text: "Two." }]);
  await start();
  const chatId = await world.createChat(replica, "My secret is 42");
  await world.until(chatId, isAtRest);
  expect(await replica.commands.clearChatContext(world.viewer, chatId)).toMatchObject({ ok: true });
  const { snapshotVersion } = await world.state(chatId);
  expect(await replica.commands.clearChatContext(world.viewer, chatId)).toMatchObject({
    version: snapshotVersion,
  });
  await world.send(replica, chatId, "Go on");
  await world.until(chatId, (state) => isAtRest(state) && state.snapshotVersion > snapshotVersion + 2);
  expect(prompt(requests.at(-1)).join()).not.toContain("42");
  const shown: Pick<MessageRow, "role">[] = await world.history(chatId);
  expect(shown.map(({ role }) => role)).toEqual(["user", "assistant", "user", "user", "assistant"]);
});
