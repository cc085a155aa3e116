/** The commands on chats, files, MCP servers and a user's own settings, bound to their dependencies. */
import { bindDependencies } from "./common/bind-dependencies.js";
import {
  archiveChat,
  deleteQueuedMessage,
  interruptChat,
  promoteQueuedMessage,
  submitToolResults,
  unarchiveChat,
} from "./chats/change-chat.js";
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
import { regenerateChatTitle } from "./chats/regenerate-title.js";
import { retryChat } from "./chats/retry-chat.js";
import { sendMessage } from "./chats/send-message.js";
import { testMcpServer } from "./mcp/test-mcp-server.js";
import { updateChat } from "./chats/update-chat.js";
import { updatePreferences } from "./users/update-preferences.js";

/** All ids are database values, not public ids. A chat that the viewer may not see is NOT_FOUND. */
export type Commands = ReturnType<typeof createCommands>;

export function createCommands(dependencies: CommandDependencies) {
  return bindDependencies(dependencies, {
    ...{ createChat, sendMessage, editMessage, interruptChat, retryChat, submitToolResults },
    ...{ promoteQueuedMessage, deleteQueuedMessage, compactChat, clearChatContext },
    ...{ updateChat, regenerateChatTitle, markChatRead, archiveChat, unarchiveChat },
    ...{ updatePreferences, createFileUpload, connectGitHost, disconnectGitHost },
    ...{ registerPushSubscription, unregisterPushSubscription },
    ...{ createMcpServer, updateMcpServer, deleteMcpServer, testMcpServer },
    ...{ startMcpOauth, disconnectMcpServer },
  });
}
