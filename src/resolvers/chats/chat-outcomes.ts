/** What every mutation on one chat answers: the chat after it, or why nothing was done. */
import type { ChatChanged, CommandResult } from "../../commands/common/command-result.js";
import type { Later } from "../../schema/chats/chat.payloads.js";
import type { Chat } from "../../schema/chats/chat.type.js";
import type { Context } from "../common/context.js";
import { toChat } from "../common/shapes.js";
import { toUserErrors, type UserErrorObject } from "../common/user-errors.js";

/** The fields that every payload has. */
export type Outcome = { chat: Later<Chat | null> | null; userErrors: UserErrorObject[] };

export function refused(userErrors: UserErrorObject[]): Outcome {
  return { chat: null, userErrors };
}

export async function changed(context: Context, result: CommandResult<ChatChanged>): Promise<Outcome> {
  if (!result.ok) return refused(toUserErrors(result.refusal));
  // Whether or not they ask for the chat: who changes it has been in it.
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
