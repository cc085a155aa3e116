/** urql over graphql-ws, with the SDK's documents and its transcript. */
import { Client, fetchExchange, subscriptionExchange } from "@urql/core";
import { createClient } from "graphql-ws";
import { WebSocket } from "ws";
// In your project: from "@parley-chat/client".
import { ChatEventsDocument, ChatTranscript, CreateChatDocument } from "../../sdk/src/index.js";
import { pause, socketUrl, text, token, url } from "../settings.js";
import { answerOf, createScreen } from "../show-answer.js";

const socket = createClient({
  url: socketUrl,
  connectionParams: { token },
  webSocketImpl: WebSocket,
  // Its own retries would resubscribe with the first cursor; ours resume after the last event.
  retryAttempts: 0,
  keepAlive: 10_000,
});
const client = new Client({
  url: `${url}/graphql`,
  preferGetMethod: false,
  fetchOptions: { headers: { authorization: `Bearer ${token}` } },
  exchanges: [
    fetchExchange,
    subscriptionExchange({
      forwardSubscription: ({ query = "", variables }) => ({
        subscribe: (sink) => ({
          unsubscribe: socket.subscribe({ query, variables: { ...variables } }, sink),
        }),
      }),
    }),
  ],
});

const created = await client
  .mutation(CreateChatDocument, { input: { parts: [{ text: { text } }] } })
  .toPromise();
const chatId = created.data?.createChat.chat?.id;
if (chatId === undefined) throw new Error(`No chat was made: ${created.error?.message ?? ""}`);

const transcript = new ChatTranscript();
const show = createScreen();

/** Resolves when the turn or the connection has ended. */
function follow(variables: { chatId: string; after: string | null }): Promise<void> {
  return new Promise((resolve) => {
    const subscription = client.subscription(ChatEventsDocument, variables).subscribe(({ data, error }) => {
      if (data && !error) show(answerOf(transcript.apply(data.chatEvents)));
      if (!error && !transcript.state.isAtRest) return;
      subscription.unsubscribe();
      resolve();
    });
  });
}

for (;;) {
  await follow({ chatId, after: transcript.state.cursor });
  if (transcript.state.isAtRest) break;
  await pause();
}
process.stdout.write("\n");
await socket.dispose();
