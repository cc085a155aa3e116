/**
 * The plain graphql-ws client, without any code of Parley's: what following a chat takes when you write it yourself.
 * The contract is docs/concepts/events.md.
 */
import { createClient } from "graphql-ws";
import { WebSocket } from "ws";
import { pause, socketUrl, text, token } from "../settings.js";
import { createScreen } from "../show-answer.js";

const FOLLOW = /* GraphQL */ `
  subscription Follow($chatId: ID!, $after: String) {
    chatEvents(chatId: $chatId, after: $after) {
      __typename
      ... on StreamEvent {
        cursor
      }
      ... on ChatRefreshEvent {
        chat {
          status
        }
      }
      ... on ChatPartEvent {
        generation {
          id
        }
        delta {
          ... on TextDelta {
            append
          }
        }
      }
      ... on ChatPreviewResetEvent {
        generation {
          id
        }
      }
      ... on ChatMessageEvent {
        message {
          role
          parts {
            ... on TextPart {
              text
            }
          }
        }
      }
      ... on ChatStatusEvent {
        status
      }
    }
  }
`;

type Event = { cursor: string } & (
  | { __typename: "ChatRefreshEvent"; chat: { status: string } }
  | { __typename: "ChatCaughtUpEvent" }
  | { __typename: "ChatPartEvent"; generation: { id: string }; delta: { append?: string } }
  | { __typename: "ChatPreviewResetEvent"; generation: { id: string } }
  | { __typename: "ChatMessageEvent"; message: { role: string; parts: { text?: string }[] } }
  | { __typename: "ChatStatusEvent"; status: string }
);

// Its own retries would resubscribe with the first cursor; ours resume after the last event.
const client = createClient({
  url: socketUrl,
  connectionParams: { token },
  webSocketImpl: WebSocket,
  retryAttempts: 0,
  keepAlive: 10_000,
});

const show = createScreen();
let cursor: string | null = null;
let status = "PENDING";
let isCaughtUp = false;
let preview = { generation: "", text: "" };

function take(event: Event): void {
  cursor = event.cursor;
  switch (event.__typename) {
    case "ChatRefreshEvent":
      preview = { generation: "", text: "" };
      status = event.chat.status;
      return;
    case "ChatCaughtUpEvent":
      isCaughtUp = true;
      return;
    case "ChatPartEvent":
      if (preview.generation !== event.generation.id) preview = { generation: event.generation.id, text: "" };
      preview.text += event.delta.append ?? "";
      return show(preview.text);
    case "ChatPreviewResetEvent":
      preview = { generation: "", text: "" };
      return;
    case "ChatMessageEvent":
      if (event.message.role === "ASSISTANT")
        show(event.message.parts.map((part) => part.text ?? "").join(""));
      return;
    case "ChatStatusEvent":
      status = event.status;
  }
}

const isAtRest = () => isCaughtUp && (status === "WAITING" || status === "ERROR");

/** Until the connection or the turn ends. */
async function follow(chatId: string): Promise<void> {
  isCaughtUp = false;
  const request = { query: FOLLOW, variables: { chatId, after: cursor } };
  for await (const { data, errors } of client.iterate<{ chatEvents: Event }>(request)) {
    if (errors || !data) throw new Error(JSON.stringify(errors));
    take(data.chatEvents);
    if (isAtRest()) return;
  }
}

const CREATE = /* GraphQL */ `
  mutation Create($input: CreateChatInput!) {
    createChat(input: $input) {
      chat {
        id
      }
      userErrors {
        message
      }
    }
  }
`;
type Created = { createChat: { chat: { id: string } | null; userErrors: { message: string }[] } };

const variables = { input: { parts: [{ text: { text } }] } };
const { value } = await client.iterate<Created>({ query: CREATE, variables }).next();
const chatId: string | undefined = value?.data?.createChat.chat?.id;
if (chatId === undefined) throw new Error(`No chat was made: ${JSON.stringify(value)}`);

while (!isAtRest()) {
  try {
    await follow(chatId);
  } catch (reason) {
    // A close event has a code; an Error here was sent by the server.
    if (reason instanceof Error && !("code" in reason)) throw reason;
    await pause();
  }
}
process.stdout.write("\n");
await client.dispose();
