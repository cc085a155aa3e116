// A chat rebuilt from its writes alone; the invariants of the lifecycle are checked against it.
import { expect } from "vitest";
import { initialState } from "../../../src/domain/chats/chat-lifecycle.js";
import type { ChatState, MessageDraft } from "../../../src/domain/chats/chat-state.js";
import type { MessagePart } from "../../../src/domain/chats/message-parts.js";
import type { Write } from "../../../src/domain/chats/transition.js";
import { userMessage } from "../chat-states.js";

/** History, queue and all texts ever sent, built from the writes alone. */
export class ChatModel {
  state: ChatState = initialState("A chat");
  readonly history: { id: number; draft: MessageDraft }[] = [];
  readonly queue = new Map<string, string>();
  readonly sent = new Set<string>(["first"]);
  readonly takenAway = new Set<string>();
  /** Generations that were once live and then were not: they must not come back. */
  readonly over = new Set<string>();
  /** Attempts that were begun; each is a generation of its own. */
  readonly begun = new Set<string>();
  #nextId = 1;

  constructor() {
    this.#insert({ role: "user", visibility: "both", ...userMessage("first") });
  }

  /** Calls in history without a result, in order. */
  get unanswered(): string[] {
    const parts = this.history.flatMap(({ draft }) => draft.parts);
    const answered = new Set(parts.flatMap((part) => (part.type === "tool-result" ? [part.toolCallId] : [])));
    return parts.flatMap((part) =>
      part.type === "tool-call" && !answered.has(part.toolCallId) ? [part.toolCallId] : [],
    );
  }

  get userTexts(): Set<string> {
    return new Set(
      this.history.filter(({ draft }) => draft.role === "user").map(({ draft }) => textOf(draft.parts)),
    );
  }

  /** Whole answers at the end of history, newest last: no user message is lost with them. */
  get answers(): number[] {
    const last = this.history.at(-1);
    return last?.draft.role === "assistant" ? [last.id] : [];
  }

  get users(): number[] {
    return this.history.filter(({ draft }) => draft.role === "user").map(({ id }) => id);
  }

  write(write: Write): void {
    switch (write.type) {
      case "insert-messages":
        for (const draft of write.messages) this.#insert(draft);
        return;
      case "delete-from": {
        const start = this.history.findIndex(({ id }) => id === Number(write.messageId));
        for (const { draft } of this.history.splice(start)) this.takenAway.add(textOf(draft.parts));
        return;
      }
      case "enqueue":
        this.queue.set(write.queuedId, textOf(write.message.parts));
        return;
      case "promote": {
        const text = this.queue.get(write.queuedId);
        if (text === undefined) throw new Error("A message was promoted that does not wait.");
        this.queue.delete(write.queuedId);
        return this.#insert({ role: "user", visibility: "both", ...userMessage(text) });
      }
      case "delete-queued":
        for (const id of write.queuedIds) {
          this.takenAway.add(this.queue.get(id) ?? "");
          this.queue.delete(id);
        }
        return;
      case "add-runtime":
        return;
    }
  }

  #insert(draft: MessageDraft): void {
    if (draft.role === "user")
      expect(this.unanswered, "calls open when the user sends a message").toEqual([]);
    this.history.push({ id: this.#nextId++, draft });
  }
}

export function textOf(parts: MessagePart[]): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}
