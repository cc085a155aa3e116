/** The commands as one object, for whoever speaks for people. */
import type { Command } from "../domain/chats/transition.js";
import type { ChatCommands } from "./chats/chat-commands.js";
import { stopBelow } from "../engine/transitions/apply-family.js";
import { changeChat, changeFamily, changeQueued } from "./chats/change-chat.js";
import type { CommandDependencies } from "./common/command-dependencies.js";
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

export function createChatCommands(dependencies: CommandDependencies): ChatCommands {
  return {
    createChat: (viewer, input) => createChat(dependencies, viewer, input),
    sendMessage: (viewer, input) => sendMessage(dependencies, viewer, input),
    editMessage: (viewer, input) => editMessage(dependencies, viewer, input),
    interruptChat: (viewer, chatId) =>
      changeFamily(dependencies, viewer, chatId, { command: { type: "interrupt" }, below: stopBelow }),
    promoteQueuedMessage: (viewer, queuedId) =>
      changeQueued(dependencies, viewer, queuedId, "promote-queued"),
    deleteQueuedMessage: (viewer, queuedId) => changeQueued(dependencies, viewer, queuedId, "delete-queued"),
    submitToolResults: (viewer, { chatId, results }) =>
      changeChat(dependencies, viewer, chatId, { type: "submit-tool-results", results }),
    retryChat: (viewer, chatId) => retryChat(dependencies, viewer, chatId),
    compactChat: (viewer, chatId) => compactChat(dependencies, viewer, chatId),
    clearChatContext: (viewer, chatId) => clearChatContext(dependencies, viewer, chatId),
    updateChat: (viewer, input) => updateChat(dependencies, viewer, input),
    regenerateChatTitle: (viewer, chatId) => regenerateTitle(dependencies, viewer, chatId),
    markChatRead: (viewer, chatId) => markChatRead(dependencies, viewer, chatId),
    updatePreferences: (viewer, input) => updatePreferences(dependencies, viewer, input),
    createFileUpload: (viewer, wanted) => createFileUpload(dependencies, viewer, wanted),
    connectGitHost: (viewer, input) => connectGitHost(dependencies, viewer, input),
    disconnectGitHost: (viewer, connectionId) => disconnectGitHost(dependencies, viewer, connectionId),
    registerPushSubscription: (viewer, wanted) => registerPushSubscription(dependencies, viewer, wanted),
    unregisterPushSubscription: (viewer, endpoint) =>
      unregisterPushSubscription(dependencies, viewer, endpoint),
    createMcpServer: (actor, wanted) => createMcpServer(dependencies, actor, wanted),
    updateMcpServer: (actor, change) => updateMcpServer(dependencies, actor, change),
    deleteMcpServer: (actor, serverId) => deleteMcpServer(dependencies, actor, serverId),
    testMcpServer: (actor, serverId) => testMcpServer(dependencies, actor, serverId),
    startMcpOauth: (viewer, input) => startMcpOauth(dependencies, viewer, input),
    disconnectMcpServer: (viewer, serverId) => disconnectMcpServer(dependencies, viewer, serverId),
    archiveChat: (viewer, chatId) => changeFamily(dependencies, viewer, chatId, alike({ type: "archive" })),
    unarchiveChat: (viewer, chatId) =>
      changeFamily(dependencies, viewer, chatId, alike({ type: "unarchive" })),
  };
}

/** The same of each of the family. */
function alike(command: Command) {
  return { command, below: () => [command] };
}
