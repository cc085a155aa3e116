// The SDK against a whole server, over a network that breaks.
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { ChatTranscript, createParley, type ChatEvent, type Parley } from "../../sdk/src/index.js";
import { encodeId } from "../../src/domain/common/ids.js";
import { startGatedModel } from "../support/models/gated-model.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../support/parley.js";
import { randomNumbers } from "../support/random.js";
import { type ChatEvent as CarefulEvent, Transcript } from "../support/clients/transcript.js";
import { type CuttableProxy, startCuttableProxy } from "./cuttable-proxy.js";

let environment: TestEnvironment;
let server: TestParley;
let proxy: CuttableProxy;
const opened: Parley[] = [];
beforeAll(async () => {
  environment = await createTestEnvironment();
  server = await environment.start();
  proxy = await startCuttableProxy(server.api.url);
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((parley) => parley.close()));
});
afterAll(async () => {
  await proxy.close();
  await environment.remove();
});

function open(more: Partial<Parameters<typeof createParley>[0]> = {}): Parley {
  const parley = createParley({
    ...{ url: proxy.url, token: server.api.token ?? "", webSocketImpl: WebSocket },
    retryDelays: { firstMs: 20, mostMs: 50 },
    ...more,
  });
  opened.push(parley);
  return parley;
}

async function start(parley: Parley, text: string): Promise<string> {
  const { createChat } = await parley.createChat({ input: { parts: [{ text: { text } }] } });
  if (!createChat.chat) throw new Error(JSON.stringify(createChat.userErrors));
  return createChat.chat.id;
}

/** Folds a chat until it rests with so many messages; `meanwhile` runs after each event. */
async function follow(
  parley: Parley,
  chatId: string,
  meanwhile: (transcript: ChatTranscript, event: ChatEvent) => void = () => undefined,
): Promise<ChatTranscript> {
  const transcript = new ChatTranscript();
  for await (const event of parley.chatEvents({ chatId })) {
    const { isAtRest } = transcript.apply(event);
    meanwhile(transcript, event);
    if (isAtRest) break;
  }
  return transcript;
}

const CUTS = 40;

test(`a turn whose follower is cut off ${CUTS} times ends with the server's messages, and the tests' own client agrees`, async () => {
  const parley = open();
  const careful = new Transcript();
  const random = randomNumbers(7);
  let cuts = 0;
  let untilCut = 1;
  const chatId = await start(parley, "[[demo: deltas=1500 delay=2 reasoning]]");
  const transcript = await follow(parley, chatId, ({ state }, event) => {
    careful.apply(forCareful(event));
    // What comes after a cut is a catch-up, in which deltas of a saved message are left out.
    if (untilCut-- > 0 || cuts === CUTS || !state.isCaughtUp) return;
    untilCut = random(8);
    cuts += proxy.cut();
  });
  const { chat } = await parley.chat({ id: chatId });
  const contents = (messages: readonly { id: string; role: string; parts: unknown }[]) =>
    messages.map(({ id, role, parts }) => ({ id, role, parts }));
  const { messages, preview, status, title } = transcript.state;
  expect({ messages: contents(messages), preview, status, title }).toEqual({
    ...{
      messages: contents(chat?.messages.nodes ?? []),
      preview: null,
      status: "WAITING",
      title: chat?.title,
    },
  });
  expect(contents(careful.messages)).toEqual(contents(messages));
  expect({ cuts, breaches: careful.breaches, confirmed: careful.confirmedPreviews }).toEqual({
    ...{ cuts: CUTS, breaches: [], confirmed: 1 },
  });
});

/** The two documents name one field differently. */
function forCareful(event: ChatEvent): CarefulEvent {
  if (event.__typename !== "ChatMessageEvent") return event as CarefulEvent;
  return { ...event, replaced: event.replacedGeneration } as CarefulEvent;
}

test("a server that is replaced in the middle of a turn is followed on the next one", async () => {
  // The other server must not take this turn: it has another model.
  const elsewhere = await createTestEnvironment();
  const model = await startGatedModel();
  const first = await elsewhere.start(model.settings);
  const own = await startCuttableProxy(first.api.url);
  const tries: number[] = [];
  const parley = open({ url: own.url, onRetry: ({ attempt }) => tries.push(attempt) });
  const chatId = await start(parley, "[[demo: deltas=40 delay=1]]");
  let replaced: Promise<TestParley> | undefined;
  const replace = async () => {
    await first.close();
    const next = await elsewhere.start(model.settings);
    own.target = next.api.url;
    model.clock.open();
    return next;
  };
  model.clock.let(20);
  const { state } = await follow(parley, chatId, (transcript) => {
    const words = transcript.state.preview?.parts
      .map(({ part }) => ("text" in part ? part.text : ""))
      .join("");
    if (words?.includes("word19 ")) replaced ??= replace();
  });
  const next = await replaced;
  const shown = await next?.api.chat(chatId);
  expect({
    status: state.status,
    failure: state.failure,
    preview: state.preview,
    wasAway: tries.length > 0,
  }).toEqual({
    ...{ status: "WAITING", failure: null, preview: null, wasAway: true },
  });
  expect(state.messages).toMatchObject(shown?.messages.nodes ?? []);
  await parley.close();
  await own.close();
  await elsewhere.remove();
  await model.close();
});

test("tools, retries and a failure are folded into one state", async () => {
  const parley = open();
  const seen = new Set<string>();
  const record = ({ state }: ChatTranscript) => {
    for (const { part } of state.preview?.parts ?? []) seen.add(part.__typename);
    if (state.retry) seen.add(`retry ${state.retry.attempt}`);
  };
  const tools = await follow(
    parley,
    await start(parley, "list the files [[demo: delay=1 reasoning]]"),
    record,
  );
  expect(tools.state.messages.map(({ role }) => role)).toEqual(["USER", "ASSISTANT", "TOOL", "ASSISTANT"]);
  const retried = await follow(parley, await start(parley, "[[demo: error=529 times=1 deltas=3]]"), record);
  const failed = await follow(parley, await start(parley, "[[demo: error=401]]"), record);
  expect({
    retried: { failure: retried.state.failure, retry: retried.state.retry },
    failed: { status: failed.state.status, kind: failed.state.failure?.kind, preview: failed.state.preview },
    seen: [...seen].sort(),
  }).toEqual({
    retried: { failure: null, retry: null },
    failed: { status: "ERROR", kind: "AUTH", preview: null },
    seen: expect.arrayContaining(["ReasoningPart", "TextPart", "ToolCallPart", "ToolInput", "retry 1"]),
  });
});

test("a chat that was read by a query is followed from exactly that point", async () => {
  const parley = open();
  const chatId = await start(parley, "[[demo: deltas=1]]");
  await follow(parley, chatId);
  const { chat } = await parley.chat({ id: chatId });
  if (!chat) throw new Error("The chat is gone.");
  const transcript = ChatTranscript.from(chat);
  const stream = parley.chatEvents({ chatId, after: transcript.state.cursor });
  const next = async () => transcript.apply((await stream.next()).value as ChatEvent);
  expect((await next()).isCaughtUp).toBe(true);
  await parley.sendChatMessage({ input: { chatId, parts: [{ text: { text: "[[demo: deltas=2]]" } }] } });
  while (transcript.state.messages.length < 4 || transcript.state.status !== "WAITING") await next();
  await stream.return?.();
  const after = await parley.chat({ id: chatId });
  expect(transcript.state.messages.map(({ id }) => id)).toEqual(
    after.chat?.messages.nodes.map(({ id }) => id),
  );
});

test("older messages are read page by page before those of the last refresh", async () => {
  const parley = open();
  const chatId = await start(parley, "[[demo: deltas=1]]");
  await follow(parley, chatId);
  const last = await parley.chat({ id: chatId, last: 1 });
  if (!last.chat) throw new Error("The chat is gone.");
  const transcript = ChatTranscript.from(last.chat);
  const older = await parley.chat({ id: chatId, last: 5, before: transcript.state.olderCursor });
  const { messages, olderCursor } = transcript.addOlder(
    older.chat?.messages ?? { nodes: [], pageInfo: NO_PAGES },
  );
  expect({ roles: messages.map(({ role }) => role), olderCursor }).toEqual({
    ...{ roles: ["USER", "ASSISTANT"], olderCursor: null },
  });
});
const NO_PAGES = { hasPreviousPage: false, startCursor: null };

test("the chat list is followed across a cut, each event once", async () => {
  const { token } = await server.addUser("lin");
  const parley = open({ token: token ?? "" });
  const seen: string[] = [];
  let isCut = false;
  let chatId = "";
  for await (const event of parley.chatListEvents()) {
    const isStatus = event.__typename === "ChatStatusChangedEvent";
    seen.push(isStatus ? event.status : event.__typename);
    if (event.__typename === "ChatListCaughtUpEvent" && chatId === "") {
      chatId = await start(parley, "[[demo: deltas=5 delay=20]]");
    }
    if (event.__typename === "ChatCreatedEvent") isCut = proxy.cut() > 0;
    if (isStatus && event.status === "WAITING") break;
  }
  const first = ["ChatListRefreshEvent", "ChatListCaughtUpEvent", "ChatCreatedEvent"];
  expect({ isCut, first: seen.slice(0, 3), last: seen.at(-1) }).toEqual({
    isCut: true,
    first,
    last: "WAITING",
  });
  const received = seen.filter((name) => name !== "ChatListCaughtUpEvent");
  expect(received).toEqual([...new Set(received)]);
});

test("queries and mutations use only the socket when configured to", async () => {
  const unreachable = () => Promise.reject(new Error("Nothing goes over HTTP."));
  const parley = open({ callsOver: "socket", fetch: unreachable });
  const chatId = await start(parley, "[[demo: deltas=2]]");
  await follow(parley, chatId);
  const { chat } = await parley.chat({ id: chatId });
  expect(chat?.messages.nodes.length).toBe(2);
  const anonymous = open({ callsOver: "socket", token: "pt_wrong" });
  await expect(anonymous.viewer()).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
});

test("calls fetch a refused token again once, and identify refusals by their code", async () => {
  const occasions: boolean[] = [];
  const token = ({ isRefused }: { isRefused: boolean }) => {
    occasions.push(isRefused);
    return isRefused ? (server.api.token ?? "") : "pt_expired";
  };
  const { viewer } = await open({ token }).viewer();
  expect({ role: viewer.user.role, occasions }).toEqual({ role: "ADMIN", occasions: [false, true] });
  await expect(open({ token: "pt_wrong" }).viewer()).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  await expect(open().chat({ id: "nonsense" })).rejects.toMatchObject({ code: "BAD_USER_INPUT" });
  const over = open({ url: "http://127.0.0.1:9" });
  await expect(over.viewer()).rejects.toMatchObject({ code: "CONNECTION_LOST" });
});

test("following a chat that is not there, or is another's, ends with FORBIDDEN", async () => {
  const stream = open().chatEvents({ chatId: encodeId("chat", randomUUID()) });
  await expect(stream.next()).rejects.toMatchObject({ name: "ParleyError", code: "FORBIDDEN" });
});
