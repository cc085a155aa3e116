/** What every resolver is given. Made anew for each operation, and for each event of a subscription. */
import type { ChatEventsSource } from "../domain/chat-stream.js";
import type { GitSnapshotsSource } from "../domain/git-snapshot.js";
import type { ChatListEventsSource } from "../domain/list-events.js";
import type { Viewer } from "../domain/viewer.js";
import type { WorkspaceAgentFacts } from "../domain/workspace.js";
import type { ChatCommands } from "../engine/commands/chat-commands.js";
import type { Database } from "../store/database.js";
import type { Loaders } from "./loaders.js";

export type Context = {
  /** Nobody unknown gets as far as a resolver. */
  viewer: Viewer;
  loaders: Loaders;
  commands: ChatCommands;
  database: Database;
  chatEvents: ChatEventsSource;
  chatListEvents: ChatListEventsSource;
  gitSnapshots: GitSnapshotsSource;
  /** What the agent of a workspace says of itself; null when it is not there. */
  workspaceAgent(workspaceId: string): Promise<WorkspaceAgentFacts | null>;
  /** The server's version. */
  version: string;
  /** Names of the environment variables that hold a provider's key; the keys themselves stay out of reach. */
  keyVariables: ReadonlySet<string>;
  /** Ties log lines to the request. */
  requestId: string;
};
