/** A chat with Parley, as a client has it: mutations over HTTP, events over graphql-ws. */
import { setTimeout } from "node:timers/promises";
import { inspect } from "node:util";
import { createClient, type Client } from "graphql-ws";
import { WebSocket, type ClientOptions } from "ws";
import { checked, textOf, TURN_LIMIT_MS, TurnWatch, type BenchChat, type Message } from "./chat.js";
import { nowMicros } from "./machine.js";
import { within } from "./programs.js";

export type ParleyAddress = { url: string; token: string };

/** What a chat page needs to show a running turn. */
export const EVENTS = `subscription Events($chatId: ID!) {
  chatEvents(chatId: $chatId) {
    __typename
    ... on StreamEvent { cursor }
    ... on ChatRefreshEvent { reason }
    ... on ChatCaughtUpEvent { replayedEvents }
    ... on ChatStatusEvent { status }
    ... on ChatErrorEvent { failure { kind message } }
    ... on ChatRetryEvent { retry { attempt delayMs failure { kind message } } generation { id attempt } }
    ... on ChatPreviewResetEvent { generation { id attempt } resetReason }
    ... on ChatQueueEvent { queuedMessages { id createdAt } }
    ... on ChatPartEvent {
      generation { id attempt } sequence role partIndex
      delta {
        __typename
        ... on TextDelta { append }
        ... on ReasoningDelta { append }
        ... on ToolInputDelta { toolCallId toolName append }
      }
    }
    ... on ChatMessageEvent {
      replaced: replacedGeneration { id attempt }
      message {
        id role createdAt runtimeMs usage { inputTokens outputTokens }
        parts { __typename ... on TextPart { text } ... on ReasoningPart { text } }
      }
    }
  }
}`;

const CREATE = `mutation Create($input: CreateChatInput!) {
  createChat(input: $input) { chat { id } userErrors { message } }
}`;

const SEND = `mutation Send($input: SendChatMessageInput!) {
  sendChatMessage(input: $input) { message { id } queuedMessage { id } eventCursor userErrors { message } }
}`;

const STATUS = `query Status($id: ID!) { chat(id: $id) { status } }`;

/** How often a chat is asked whether its first turn is over; it has no subscriber yet. */
const POLL_INTERVAL_MS = 25;

type Refusals = { userErrors: { message: string }[] };
type Created = { createChat: Refusals & { chat: { id: string } | null } };
type Sent = { sendChatMessage: Refusals };
type Stands = { chat: { status: string } | null };
type Events = {
  chatEvents: {
    __typename: string;
    status?: string;
    failure?: { message: string };
    delta?: { append?: string; toolName?: string };
  };
};

/** Starts a chat, waits out its first turn, and then sets so many subscribers on it. */
export async function openParleyChat(
  address: ParleyAddress,
  first: Message,
  subscribers: number,
): Promise<BenchChat> {
  const chatId = await startParleyChat(address, first);
  const [watched, ...others] = await Promise.all(
    Array.from({ length: subscribers }, () => subscribe(address, chatId)),
  );
  if (!watched) throw new Error("A chat of the bench needs a subscriber");
  return {
    async say(message) {
      const turn = watched.watch.begin();
      const [, seen] = await within(
        TURN_LIMIT_MS,
        "Parley's turn did not end",
        Promise.all([sayInParley(address, chatId, message), turn]),
      );
      return checked(seen, message);
    },
    close: async () => {
      for (const { client } of [watched, ...others]) await client.dispose();
    },
  };
}

/** Starts a chat, waits for its first turn and returns the chat's id. */
export async function startParleyChat(address: ParleyAddress, first: Message): Promise<string> {
  const input = { parts: [{ text: { text: textOf(first) } }] };
  const { createChat } = await ask<Created>(address, CREATE, { input });
  refuse(createChat);
  const chatId = createChat.chat?.id ?? "";
  await within(TURN_LIMIT_MS, "The first turn did not end", untilRested(address, chatId));
  return chatId;
}

/** Sends a message, which starts a turn. */
export async function sayInParley(address: ParleyAddress, chatId: string, message: Message): Promise<void> {
  const sent = { chatId, parts: [{ text: { text: textOf(message) } }] };
  const { sendChatMessage } = await ask<Sent>(address, SEND, { input: sent });
  refuse(sendChatMessage);
}

/** Subscribes while the chat is idle, so that the first turn that subscribers see is a measured one. */
async function untilRested(address: ParleyAddress, id: string): Promise<void> {
  for (;;) {
    const { chat } = await ask<Stands>(address, STATUS, { id });
    if (chat?.status === "WAITING") return;
    if (chat?.status === "ERROR") throw new Error("The first turn failed");
    await setTimeout(POLL_INTERVAL_MS);
  }
}

function refuse({ userErrors }: Refusals): void {
  if (userErrors.length > 0) throw new Error(userErrors.map(({ message }) => message).join(" "));
}

async function ask<Answer>({ url, token }: ParleyAddress, query: string, variables: object): Promise<Answer> {
  const response = await fetch(`${url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = (await response.json()) as { data?: Answer; errors?: unknown };
  if (!data || errors) throw new Error(`Parley answered ${response.status}: ${JSON.stringify(errors)}`);
  return data;
}

/** One subscriber on a socket of its own. Resolves when it has received the chat's current state. */
async function subscribe(
  { url, token }: ParleyAddress,
  chatId: string,
): Promise<{ client: Client; watch: TurnWatch }> {
  const watch = new TurnWatch();
  let arrivedMicros = 0;
  // Our own listener comes first, so the time is that of the frame and not of its parsing.
  class TimedSocket extends WebSocket {
    constructor(address: string, protocols: string | string[], options?: ClientOptions) {
      super(address, protocols, { ...options, perMessageDeflate: false });
      this.on("message", () => (arrivedMicros = nowMicros()));
    }
  }
  const client = createClient({
    url: `${url.replace("http", "ws")}/graphql`,
    connectionParams: { authorization: `Bearer ${token}` },
    webSocketImpl: TimedSocket,
    retryAttempts: 0,
  });
  await new Promise<void>((resolve, reject) => {
    const fail = (reason: unknown) => {
      const error = new Error(`The subscription ended: ${inspect(reason)}`, { cause: reason });
      reject(error);
      watch.fail(error);
    };
    client.subscribe<Events>(
      { query: EVENTS, variables: { chatId } },
      {
        next: ({ data, errors }) => {
          if (!data || errors) return fail(errors);
          const event = data.chatEvents;
          if (event.__typename === "ChatCaughtUpEvent") resolve();
          watch.frame(arrivedMicros, event.delta?.toolName ? null : (event.delta?.append ?? null));
          if (event.status === "WAITING") watch.end();
          if (event.failure) watch.fail(new Error(event.failure.message));
        },
        error: fail,
        complete: () => fail("complete"),
      },
    );
  });
  return { client, watch };
}
