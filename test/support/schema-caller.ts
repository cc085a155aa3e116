// Asks the schema without the doors, over a real database. Commands are played by a table of answers; what they
// really do is tested elsewhere.
import { type ExecutionResult, graphql } from "graphql";
import type { Viewer } from "../../src/domain/viewer.js";
import type { ChatCommands, CommandRefusal } from "../../src/engine/commands/chat-commands.js";
import type { Context } from "../../src/resolvers/context.js";
import { Loaders } from "../../src/resolvers/loaders.js";
import { resolvers } from "../../src/resolvers/resolvers.js";
import { buildParleySchema } from "../../src/schema/build.js";
import type { Database } from "../../src/store/database.js";

export const schema = buildParleySchema(resolvers);

/** Commands that all answer the same. */
export function refusing(refusal: CommandRefusal): ChatCommands {
  const answer = () => Promise.resolve({ ok: false as const, refusal });
  return {
    createChat: answer,
    sendMessage: answer,
    editMessage: answer,
    interruptChat: answer,
    promoteQueuedMessage: answer,
    deleteQueuedMessage: answer,
    submitToolResults: answer,
    compactChat: answer,
    clearChatContext: answer,
    updateChat: answer,
    regenerateChatTitle: answer,
    markChatRead: answer,
    updatePreferences: answer,
    connectGitHost: answer,
    disconnectGitHost: answer,
    archiveChat: answer,
    unarchiveChat: answer,
  };
}

export const neverAsked = refusing({ code: "UNAVAILABLE", message: "No command was expected." });

export function contextOf(db: Database, viewer: Viewer, more: Partial<Context> = {}): Context {
  return {
    viewer,
    loaders: new Loaders(db, viewer),
    commands: neverAsked,
    database: db,
    chatEvents: { subscribe: () => Promise.resolve(null) },
    chatListEvents: { subscribe: () => Promise.reject(new Error("No list was expected to be followed.")) },
    gitSnapshots: {
      subscribe: () => null,
      read: () => Promise.reject(new Error("No repository was expected to be looked at.")),
      refresh: () => Promise.reject(new Error("No repository was expected to be looked at.")),
    },
    workspaceAgent: () => Promise.resolve(null),
    version: "1.2.3",
    keyVariables: new Set(["ANTHROPIC_API_KEY"]),
    requestId: "test",
    ...more,
  };
}

export type Ask = (
  viewer: Viewer,
  source: string,
  variableValues?: Record<string, unknown>,
  more?: Partial<Context>,
) => Promise<ExecutionResult>;

/** One operation in a context of its own. */
export function askingOver(db: Database): Ask {
  return async (viewer, source, variableValues = {}, more = {}) => {
    const contextValue = contextOf(db, viewer, more);
    const result = await graphql({ schema, source, variableValues, contextValue });
    // Null-prototype objects compare unequal to literals.
    return JSON.parse(JSON.stringify(result));
  };
}

/** Code and message of each error of the response. */
export function problems(result: ExecutionResult): [unknown, string][] {
  return (result.errors ?? []).map((error) => [error.extensions?.["code"], error.message]);
}
