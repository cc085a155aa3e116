/** The common payload of mutations on a chat: the changed chat, or the user errors. */
import type { ChatChanged, CommandResult } from "../../commands/common/command-result.js";
import type { Later } from "../../schema/chats/chat.payloads.js";
import type { Chat } from "../../schema/chats/chat.type.js";
import type { Context } from "../common/context.js";
import { toChat } from "../common/shapes.js";
import { toUserErrors, type UserErrorObject } from "../common/user-errors.js";

/** Fields of every payload. */
export type Outcome = { chat: Later<Chat | null> | null; userErrors: UserErrorObject[] };

export function refused(userErrors: UserErrorObject[]): Outcome {
  return { chat: null, userErrors };
}

export async function changed(context: Context, result: CommandResult<ChatChanged>): Promise<Outcome> {
  if (!result.ok) return refused(toUserErrors(result.refusal));
  // A change counts as a read, whether or not the chat is selected.
  await context.noteReads("chat", [result.chatId]);
  // Another mutation of the same operation may have read the chat before this one changed it.
  context.loaders.forget();
  const { chatId } = result;
  return {
    userErrors: [],
    chat: async () => {
      const record = await context.loaders.chats.load(chatId);
      return record && toChat(record);
    },
  };
}
