/** The context of resolvers. Created for each operation, and for each event of a subscription. */
import type { ChatEventsSource } from "../../domain/chats/chat-stream.js";
import type { BranchDiffs } from "../../domain/git/branch-diffs.js";
import type { GitSnapshotsSource } from "../../domain/git/git-snapshot.js";
import type { ChatListEventsSource } from "../../domain/chats/list-events.js";
import type { Actor, Viewer } from "../../domain/users/viewer.js";
import type { WorkspaceAgentFacts } from "../../domain/workspaces/workspace.js";
import type { Commands } from "../../commands/commands.js";
import type { DeploymentCommands } from "../../commands/common/update-deployment-settings.js";
import type { ModelCommands } from "../../commands/models/model-commands.js";
import type { WorkspaceCommands } from "../../commands/workspaces/workspace-commands.js";
import type { UserCommands } from "../../commands/users/user-commands.js";
import type { StorageCommands } from "../../commands/files/storage-commands.js";
import type { UsageLimitCommands } from "../../commands/usage/usage-limit-commands.js";
import type { McpToolsSource } from "../../commands/mcp/tools-source.js";
import type { Reads } from "./read-shares.js";
import type { McpServerRecord } from "../../store/mcp/mcp-servers.js";
import type { Loaders, NoteReads } from "./loaders.js";

export type Context = {
  /** Always set: unauthenticated requests never reach a resolver. */
  viewer: Viewer;
  /** The enabled servers among these IDs, and those that are always on, sorted by slug. Cached. */
  selectedMcpServers(ids: readonly string[]): Promise<readonly McpServerRecord[]>;
  loaders: Loaders;
  /** Records admins' reads that do not go through the loaders, which record theirs. */
  noteReads: NoteReads;
  commands: Commands;
  userCommands: UserCommands;
  deployment: DeploymentCommands;
  limits: UsageLimitCommands;
  storage: StorageCommands;
  modelCommands: ModelCommands;
  workspaces: WorkspaceCommands;
  /** Idle milliseconds after which workspaces stop; null for each template's own. Cached. */
  deploymentTtlMs(): Promise<number | null>;
  /** Bounds the viewer's concurrent reads. */
  database: Reads;
  chatEvents: ChatEventsSource;
  chatListEvents: ChatListEventsSource;
  gitSnapshots: GitSnapshotsSource;
  /** Fetches the diffs of chats' branches from Git hosts. Callers must check the viewer's rights. */
  branchDiffs: BranchDiffs;
  /** Lists the tools of registered MCP servers. */
  mcpTools: McpToolsSource;
  /** Facts reported by a workspace's agent; null if it is not connected. */
  workspaceAgent(workspaceId: string): Promise<WorkspaceAgentFacts | null>;
  /** Asks the workspace's agent, if it is running, which MCP servers want permission. Never rejects. */
  refreshMcpRequests(workspaceId: string): Promise<void>;
  /** A file's download URL; works without a token for a limited time. */
  fileUrl(fileId: string): string;
  /** An announced file's upload URL, valid until then (milliseconds since the epoch). */
  uploadUrl(fileId: string, expiresAt: number): string;
  /** The VAPID public key for push subscriptions; null if it cannot be decrypted. */
  pushPublicKey(): Promise<string | null>;
  /** The server's version. */
  version: string;
  /** Names of the environment variables that contain a provider's key. Resolvers have no access to the keys. */
  keyVariables: ReadonlySet<string>;
  /** Request ID, as in log lines. */
  requestId: string;
};

/** The viewer with the request ID, as recorded in the audit log. */
export function actorOf({ viewer, requestId }: Context): Actor {
  return { ...viewer, requestId };
}
