/**
 * A chat in a browser, live, without a framework. Open it with the server and the token in the address:
 * `index.html#url=http://127.0.0.1:4000&token=…`, and `&chat=…` for an existing chat.
 */
// In your project: from "@parley-chat/client".
import {
  ChatTranscript,
  createParley,
  type PreviewPart,
  type TranscriptMessage,
  type TranscriptState,
} from "../../sdk/src/index.js";

const settings = new URLSearchParams(location.hash.slice(1));
let chatId = settings.get("chat");

const parley = createParley({
  url: settings.get("url") ?? location.origin,
  token: settings.get("token") ?? "",
  // Then the page may be of any origin.
  callsOver: "socket",
  onRetry: ({ attempt }) => notice(`Reconnecting (${attempt})…`),
});

function find<Name extends "main" | "form" | "output">(name: Name): HTMLElementTagNameMap[Name] {
  const found = document.querySelector(name);
  if (!found) throw new Error(`The page has no <${name}>.`);
  return found;
}

const page = { main: find("main"), form: find("form"), notice: find("output") };

function notice(text: string): void {
  page.notice.textContent = text;
}

function textOf(part: PreviewPart | TranscriptMessage["parts"][number]): string {
  switch (part.__typename) {
    case "TextPart":
      return part.text;
    case "ReasoningPart":
      return `(${part.text})\n`;
    case "ToolInput":
      return `${part.toolName} ${part.text}`;
    case "ToolCallPart":
      return `${part.toolName} ${JSON.stringify(part.arguments)}`;
    case "ToolResultPart":
      return JSON.stringify(part.result, null, 2);
    default:
      return `[${part.__typename}]`;
  }
}

function article(role: string, text: string): HTMLElement {
  const element = document.createElement("article");
  element.dataset["role"] = role;
  element.textContent = text;
  return element;
}

function render({ messages, preview, status, retry, failure }: TranscriptState): void {
  const shown = messages.map(({ role, parts }) => article(role, parts.map(textOf).join("")));
  if (preview) {
    const draft = article(preview.role, preview.parts.map(({ part }) => textOf(part)).join(""));
    draft.dataset["preview"] = preview.generation;
    shown.push(draft);
  }
  page.main.replaceChildren(...shown);
  document.body.dataset["status"] = status ?? "";
  notice(
    failure?.message ?? (retry ? `Trying again: ${retry.failure.message}` : (status ?? "").toLowerCase()),
  );
}

async function follow(id: string): Promise<void> {
  const transcript = new ChatTranscript();
  let isDrawing = false;
  for await (const event of parley.chatEvents({ chatId: id })) {
    transcript.apply(event);
    if (isDrawing) continue;
    isDrawing = true;
    // Many events may come within one frame.
    requestAnimationFrame(() => {
      isDrawing = false;
      render(transcript.state);
    });
  }
}

async function say(text: string): Promise<void> {
  const parts = [{ text: { text } }];
  if (chatId !== null) {
    const { sendChatMessage } = await parley.sendChatMessage({ input: { chatId, parts } });
    return notice(sendChatMessage.userErrors.map(({ message }) => message).join(" "));
  }
  const { createChat } = await parley.createChat({ input: { parts } });
  if (!createChat.chat) return notice(createChat.userErrors.map(({ message }) => message).join(" "));
  chatId = createChat.chat.id;
  follow(chatId).catch(fail);
}

function fail(reason: unknown): void {
  notice(reason instanceof Error ? reason.message : String(reason));
}

page.form.addEventListener("submit", (event) => {
  event.preventDefault();
  const input = page.form.elements.namedItem("text") as HTMLInputElement;
  say(input.value).catch(fail);
  input.value = "";
});
if (chatId !== null) follow(chatId).catch(fail);
