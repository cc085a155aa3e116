// Each event declares the audience that can share one execution. The declaration is compared with what an execution
// really uses: with everything selected, an event for all subscribers must never use the context.
import { execute, getNamedType, parse } from "graphql";
import { expect, test } from "vitest";
import type { MessageRow, MessageDelta, QueuedRow } from "../../../src/domain/chats/chat-events.js";
import { audienceOfChatEvent, type ChatEvent } from "../../../src/domain/chats/chat-stream.js";
import type { ChatFailure } from "../../../src/domain/common/failures.js";
import { audienceOfListEvent, type ListEvent } from "../../../src/domain/chats/list-events.js";
import type { Audience } from "../../../src/domain/common/subscription-source.js";
import { resolvers } from "../../../src/resolvers/resolvers.js";
import { buildParleySchema } from "../../../src/schema/build.js";
import { selectEverything } from "../../support/clients/select-everything.js";

const schema = buildParleySchema(resolvers);
const UUID = "0197d2d0-0000-7000-8000-000000000000";
/** Deep enough to reach what parts of a message link to. */
const DEPTH = 4;

type ByType<Union extends { type: string }> = {
  [Type in Union["type"]]: Omit<Extract<Union, { type: Type }>, "cursor" | "type">;
};

const file = { fileId: UUID, name: "a.png", mediaType: "image/png", sizeBytes: 1 };
const failure: ChatFailure = { kind: "timeout", message: "Too late.", isRetryable: true };
const generation = { historyVersion: 1, attempt: 1 };

const DELTAS: ByType<MessageDelta> = {
  "text-delta": { append: "a" },
  "reasoning-delta": { append: "a" },
  "tool-input-delta": { toolCallId: "c", toolName: "t", append: "{" },
  "tool-output-delta": { toolCallId: "c", append: "a" },
  "tool-call": { toolCallId: "c", toolName: "t", arguments: {} },
  "tool-result": { toolCallId: "c", toolName: "t", result: null, isError: false, files: [file] },
  source: { url: "https://example.org/" },
  notice: { level: "warning", text: "Mind the gap." },
};

const row = {
  id: "1",
  chatId: UUID,
  authorId: UUID,
  modelConfigId: UUID,
  createdAt: 0,
  reasoningEffort: null,
};
const message: MessageRow = {
  ...row,
  ...{ role: "assistant", visibility: "both", parts: [], mcpServerIds: null, usage: null, costMicros: null },
  ...{
    runtimeMs: null,
    generation: null,
    finishReason: null,
    responseId: null,
    isSummary: false,
    revision: 1,
  },
};
const queued: QueuedRow = { ...row, parts: [{ type: "text", text: "a" }], isCut: false };

const CHAT_EVENTS: Omit<ByType<ChatEvent>, "part"> = {
  refresh: { reason: "fell_behind", chatId: UUID },
  "caught-up": { replayedEvents: 0 },
  message: { message },
  "preview-reset": { generation, reason: "retry" },
  status: { status: "running", chatId: UUID },
  error: { failure },
  queue: { queue: [queued] },
  "action-required": { calls: [{ toolCallId: "c", toolName: "t", isClient: true }], deadline: 0 },
  retry: { retry: { attempt: 1, delayMs: 1, retryingAt: 0, failure }, generation },
  title: { title: "A title" },
  "diff-status": { chatId: UUID },
};

const LIST_EVENTS: ByType<ListEvent> = {
  refresh: { reason: "fell_behind" },
  "caught-up": { replayedEvents: 0 },
  created: { chatId: UUID },
  removed: { chatId: UUID, reason: "archived" },
  title: { chatId: UUID, title: "A title" },
  "diff-status": { chatId: UUID },
  status: { chatId: UUID, status: "running", isUnread: null },
};

const document = (field: "chatEvents" | "chatListEvents" | "gitSnapshots", args: string) => {
  const type = schema.getSubscriptionType()?.getFields()[field]?.type;
  if (!type) throw new Error(`no subscription ${field}`);
  return parse(`subscription { ${field}${args} ${selectEverything(schema, getNamedType(type), DEPTH)} }`);
};

/** The widest audience that a response with everything selected permits. Only the context's own errors are allowed. */
async function observe(selected: ReturnType<typeof document>, rootValue: object): Promise<Audience> {
  let isUsed = false;
  const use = (): never => {
    isUsed = true;
    throw new Error("The context was used.");
  };
  const contextValue = new Proxy(
    {},
    { get: (_target, key) => (key === "then" ? undefined : use()), has: use },
  );
  const { errors = [] } = await execute({ schema, document: selected, rootValue, contextValue });
  expect(errors.map(({ message: text }) => text).filter((text) => text !== "The context was used.")).toEqual(
    [],
  );
  return isUsed ? "same_viewer" : "every_subscriber";
}

async function tableOf<Event extends object>(
  selected: ReturnType<typeof document>,
  events: [string, Event][],
  audienceOf: (event: Event) => Audience,
) {
  const declared = Object.fromEntries(events.map(([name, event]) => [name, audienceOf(event)]));
  const observed: Record<string, Audience> = {};
  for (const [name, event] of events) observed[name] = await observe(selected, event);
  return { declared, observed };
}

test("chat events declare exactly the audience that can share one result", async () => {
  const deltas = Object.entries(DELTAS).map(([type, delta]): [string, ChatEvent] => [
    `part ${type}`,
    {
      ...{ type: "part", cursor: "c", generation, sequence: 1, role: "assistant", partIndex: 0 },
      delta: { type, ...delta } as MessageDelta,
    } as ChatEvent,
  ]);
  const events = Object.entries(CHAT_EVENTS).map(([type, event]): [string, ChatEvent] => [
    type,
    { type, cursor: "c", ...event } as ChatEvent,
  ]);
  const selected = document("chatEvents", `(chatId: "chat_${UUID}")`);
  const { declared, observed } = await tableOf(selected, [...deltas, ...events], audienceOfChatEvent);
  expect(observed).toEqual(declared);
});

test("list events declare exactly the audience that can share one result", async () => {
  const events = Object.entries(LIST_EVENTS).map(([type, event]): [string, ListEvent] => [
    type,
    { type, cursor: "c", ...event } as ListEvent,
  ]);
  const { declared, observed } = await tableOf(document("chatListEvents", ""), events, audienceOfListEvent);
  expect(observed).toEqual(declared);
});

test("a git snapshot is plain data that all subscribers can share", async () => {
  const selected = document("gitSnapshots", `(chatId: "chat_${UUID}")`);
  expect(await observe(selected, { repositories: [], scannedAt: 0 })).toBe("every_subscriber");
});
