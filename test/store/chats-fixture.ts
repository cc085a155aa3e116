// Chats for tests of the store: made by its own statements, moved by the pure lifecycle.
import { randomUUID } from "node:crypto";
import { initialState, transitionAll } from "../../src/domain/chats/chat-lifecycle.js";
import type { MessageRow } from "../../src/domain/chats/chat-events.js";
import type { ChatState, MessageDraft, UserMessage } from "../../src/domain/chats/chat-state.js";
import type { Command } from "../../src/domain/chats/transition.js";
import { insertChat } from "../../src/store/chats/new-chat.js";
import { fitsOneStatement, writeInOneStatement, writeLocked } from "../../src/store/chats/transitions.js";
import type { World } from "../engine/world.js";

export const NOW = Date.UTC(2026, 0, 1);

export function said(world: World, text: string): UserMessage {
  return {
    parts: [{ type: "text", text }],
    authorId: world.viewer.userId,
    modelConfigId: null,
    reasoningEffort: null,
    mcpServerIds: null,
  };
}

/** A pending chat in which each of the texts was said. */
export async function newChat(
  world: World,
  ...texts: string[]
): Promise<{ chatId: string; state: ChatState }> {
  const messages = (texts.length > 0 ? texts : ["Hello"]).map((text): MessageDraft => {
    return { role: "user", visibility: "both", ...said(world, text) };
  });
  const chat = {
    id: randomUUID(),
    ownerId: world.viewer.userId,
    modelConfigId: world.modelConfigId,
    workspaceId: null,
    reasoningEffort: null,
    mcpServerIds: [],
    clientTools: [],
    labels: [],
    state: initialState("A chat"),
    messages,
    now: NOW,
  };
  await world.database.transaction((transaction) => insertChat(transaction, chat));
  return { chatId: chat.id, state: chat.state };
}

export type Path = "one statement" | "locked";

/** Decides on `state` and writes in the way that is asked for; `rows` is null when the chat had moved on. */
export async function apply(
  world: World,
  { chatId, state }: { chatId: string; state: ChatState },
  commands: Command[],
  path: Path = "locked",
): Promise<{ chatId: string; state: ChatState; rows: MessageRow[] | null }> {
  const decided = transitionAll(state, commands, NOW);
  if (decided.outcome !== "changed") throw new Error(`Not changed: ${JSON.stringify(decided)}`);
  const change = { chatId, previous: state, next: decided.next, now: NOW };
  if (path === "locked") {
    const rows = await world.database.transaction((transaction) =>
      writeLocked(transaction, change, decided.writes),
    );
    return { chatId, state: decided.next, rows };
  }
  if (!fitsOneStatement(decided.writes)) throw new Error("These writes do not fit one statement.");
  const rows = await writeInOneStatement(world.database, change, decided.writes);
  return { chatId, state: decided.next, rows };
}
