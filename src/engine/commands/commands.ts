/** The commands as one object, for whoever speaks for people. */
import type { ChatCommands } from "./chat-commands.js";
import { changeChat, changeQueued } from "./change-chat.js";
import type { CommandParts } from "./command-parts.js";
import { connectGitHost } from "./connect-git-host.js";
import { createChat } from "./create-chat.js";
import { disconnectGitHost } from "./disconnect-git-host.js";
import { clearChatContext, compactChat } from "./fold-context.js";
import { editMessage } from "./edit-message.js";
import { markChatRead } from "./mark-chat-read.js";
import { regenerateTitle } from "./regenerate-title.js";
import { sendMessage } from "./send-message.js";
import { updateChat } from "./update-chat.js";
import { updatePreferences } from "./update-preferences.js";

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
    compactChat: (viewer, chatId) => compactChat(parts, viewer, chatId),
    clearChatContext: (viewer, chatId) => clearChatContext(parts, viewer, chatId),
    updateChat: (viewer, input) => updateChat(parts, viewer, input),
    regenerateChatTitle: (viewer, chatId) => regenerateTitle(parts, viewer, chatId),
    markChatRead: (viewer, chatId) => markChatRead(parts, viewer, chatId),
    updatePreferences: (viewer, input) => updatePreferences(parts, viewer, input),
    connectGitHost: (viewer, input) => connectGitHost(parts, viewer, input),
    disconnectGitHost: (viewer, connectionId) => disconnectGitHost(parts, viewer, connectionId),
    archiveChat: (viewer, chatId) => changeChat(parts, viewer, chatId, { type: "archive" }),
    unarchiveChat: (viewer, chatId) => changeChat(parts, viewer, chatId, { type: "unarchive" }),
  };
}
