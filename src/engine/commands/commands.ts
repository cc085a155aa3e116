/** The commands as one object, for whoever speaks for people. */
import type { ChatCommands } from "./chat-commands.js";
import { changeChat, changeQueued } from "./change-chat.js";
import type { CommandParts } from "./command-parts.js";
import { createChat } from "./create-chat.js";
import { editMessage } from "./edit-message.js";
import { sendMessage } from "./send-message.js";

export function createChatCommands(parts: CommandParts): ChatCommands {
  return {
    createChat: (viewer, input) => createChat(parts, viewer, input),
    sendMessage: (viewer, input) => sendMessage(parts, viewer, input),
    editMessage: (viewer, input) => editMessage(parts, viewer, input),
    interruptChat: (viewer, chatId) => changeChat(parts, viewer, chatId, { type: "interrupt" }),
    promoteQueuedMessage: (viewer, queuedId) => changeQueued(parts, viewer, queuedId, "promote-queued"),
    deleteQueuedMessage: (viewer, queuedId) => changeQueued(parts, viewer, queuedId, "delete-queued"),
    submitToolResults: (viewer, { chatId, results }) =>
      changeChat(parts, viewer, chatId, { type: "submit-tool-results", results }),
    archiveChat: (viewer, chatId) => changeChat(parts, viewer, chatId, { type: "archive" }),
    unarchiveChat: (viewer, chatId) => changeChat(parts, viewer, chatId, { type: "unarchive" }),
  };
}
