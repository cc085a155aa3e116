/**
 * Apollo Client over graphql-ws, with the SDK's documents and its transcript. Apollo's cache has no order of events, so
 * events bypass it.
 */
import { ApolloClient, InMemoryCache } from "@apollo/client";
import { GraphQLWsLink } from "@apollo/client/link/subscriptions";
import { createClient } from "graphql-ws";
import { WebSocket } from "ws";
// In your project: from "@parley-chat/client".
import { ChatEventsDocument, ChatTranscript, CreateChatDocument } from "../../sdk/src/index.js";
import { pause, socketUrl, text, token } from "../settings.js";
import { answerOf, createScreen } from "../show-answer.js";

const socket = createClient({
  url: socketUrl,
  connectionParams: { token },
  webSocketImpl: WebSocket,
  // Its own retries would resubscribe with the first cursor; ours resume after the last event.
  retryAttempts: 0,
  keepAlive: 10_000,
});
const client = new ApolloClient({ link: new GraphQLWsLink(socket), cache: new InMemoryCache() });

const created = await client.mutate({
  mutation: CreateChatDocument,
  variables: { input: { parts: [{ text: { text } }] } },
});
const chatId = created.data?.createChat.chat?.id;
if (chatId === undefined) throw new Error(`No chat was made: ${JSON.stringify(created.data)}`);

const transcript = new ChatTranscript();
const show = createScreen();

/** Resolves when the turn, the stream or the connection has ended. */
function follow(variables: { chatId: string; after: string | null }): Promise<void> {
  return new Promise((resolve) => {
    const subscription = client
      .subscribe({ query: ChatEventsDocument, variables, fetchPolicy: "no-cache" })
      .subscribe({
        next({ data }) {
          // A failure comes as a result too; `complete` follows.
          if (!data) return;
          show(answerOf(transcript.apply(data.chatEvents)));
          if (!transcript.state.isAtRest) return;
          subscription.unsubscribe();
          resolve();
        },
        error: () => resolve(),
        complete: () => resolve(),
      });
  });
}

for (;;) {
  await follow({ chatId, after: transcript.state.cursor });
  if (transcript.state.isAtRest) break;
  await pause();
}
process.stdout.write("\n");
client.stop();
await socket.dispose();
