/**
 * Parley's own client in Node: creates a chat and shows the answer while it is generated. When the connection breaks,
 * the loop resumes where it was.
 */
import { WebSocket } from "ws";
// In your project: from "@parley-chat/client".
import { ChatTranscript, createParley } from "../../sdk/src/index.js";
import { text, token, url } from "../settings.js";
import { answerOf, createScreen } from "../show-answer.js";

const parley = createParley({ url, token, webSocketImpl: WebSocket });

const { createChat } = await parley.createChat({ input: { parts: [{ text: { text } }] } });
if (!createChat.chat) throw new Error(createChat.userErrors.map(({ message }) => message).join(" "));

const transcript = new ChatTranscript();
const show = createScreen();
for await (const event of parley.chatEvents({ chatId: createChat.chat.id })) {
  const state = transcript.apply(event);
  show(answerOf(state));
  if (state.isAtRest) break;
}
const { failure } = transcript.state;
process.stdout.write(failure ? `\n${failure.message}\n` : "\n");
await parley.close();
