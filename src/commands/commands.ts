/** The commands as one object, for whoever speaks for people. */
import type { Command } from "../domain/chats/transition.js";
import type { ChatCommands } from "./chats/chat-commands.js";
import { stopBelow } from "../engine/transitions/apply-family.js";
import { changeChat, changeFamily, changeQueued } from "./chats/change-chat.js";
import type { CommandParts } from "./common/command-dependencies.js";
import { connectGitHost } from "./git/connect-git-host.js";
import { disconnectMcpServer, startMcpOauth } from "./mcp/connect-mcp-server.js";
import { createChat } from "./chats/create-chat.js";
import { createFileUpload } from "./files/create-file-upload.js";
import { disconnectGitHost } from "./git/disconnect-git-host.js";
import { clearChatContext, compactChat } from "./chats/compact-context.js";
import { editMessage } from "./chats/edit-message.js";
import { markChatRead } from "./chats/mark-chat-read.js";
import { createMcpServer, deleteMcpServer, updateMcpServer } from "./mcp/mcp-servers.js";
import { registerPushSubscription, unregisterPushSubscription } from "./push/push-subscriptions.js";
import { regenerateTitle } from "./chats/regenerate-title.js";
import { retryChat } from "./chats/retry-chat.js";
import { sendMessage } from "./chats/send-message.js";
import { testMcpServer } from "./mcp/test-mcp-server.js";
import { updateChat } from "./chats/update-chat.js";
import { updatePreferences } from "./users/update-preferences.js";

export function createChatCommands(parts: CommandParts): ChatCommands {
  return {
    createChat: (viewer, input) => createChat(parts, viewer, input),
    sendMessage: (viewer, input) => sendMessage(parts, viewer, input),
    editMessage: (viewer, input) => editMessage(parts, viewer, input),
    interruptChat: (viewer, chatId) =>
      changeFamily(parts, viewer, chatId, { command: { type: "interrupt" }, below: stopBelow }),
    promoteQueuedMessage: (viewer, queuedId) => changeQueued(parts, viewer, queuedId, "promote-queued"),
    deleteQueuedMessage: (viewer, queuedId) => changeQueued(parts, viewer, queuedId, "delete-queued"),
    submitToolResults: (viewer, { chatId, results }) =>
      changeChat(parts, viewer, chatId, { type: "submit-tool-results", results }),
    retryChat: (viewer, chatId) => retryChat(parts, viewer, chatId),
    compactChat: (viewer, chatId) => compactChat(parts, viewer, chatId),
    clearChatContext: (viewer, chatId) => clearChatContext(parts, viewer, chatId),
    updateChat: (viewer, input) => updateChat(parts, viewer, input),
    regenerateChatTitle: (viewer, chatId) => regenerateTitle(parts, viewer, chatId),
    markChatRead: (viewer, chatId) => markChatRead(parts, viewer, chatId),
    updatePreferences: (viewer, input) => updatePreferences(parts, viewer, input),
    createFileUpload: (viewer, wanted) => createFileUpload(parts, viewer, wanted),
    connectGitHost: (viewer, input) => connectGitHost(parts, viewer, input),
    disconnectGitHost: (viewer, connectionId) => disconnectGitHost(parts, viewer, connectionId),
    registerPushSubscription: (viewer, wanted) => registerPushSubscription(parts, viewer, wanted),
    unregisterPushSubscription: (viewer, endpoint) => unregisterPushSubscription(parts, viewer, endpoint),
    createMcpServer: (actor, wanted) => createMcpServer(parts, actor, wanted),
    updateMcpServer: (actor, change) => updateMcpServer(parts, actor, change),
    deleteMcpServer: (actor, serverId) => deleteMcpServer(parts, actor, serverId),
    testMcpServer: (actor, serverId) => testMcpServer(parts, actor, serverId),
    startMcpOauth: (viewer, input) => startMcpOauth(parts, viewer, input),
    disconnectMcpServer: (viewer, serverId) => disconnectMcpServer(parts, viewer, serverId),
    archiveChat: (viewer, chatId) => changeFamily(parts, viewer, chatId, alike({ type: "archive" })),
    unarchiveChat: (viewer, chatId) => changeFamily(parts, viewer, chatId, alike({ type: "unarchive" })),
  };
}

/** The same of each of the family. */
function alike(command: Command) {
  return { command, below: () => [command] };
}
