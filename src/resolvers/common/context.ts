/** What every resolver is given. Made anew for each operation, and for each event of a subscription. */
import type { ChatEventsSource } from "../../domain/chats/chat-stream.js";
import type { BranchDiffs } from "../../domain/git/diff-limits.js";
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
  /** Nobody unknown gets as far as a resolver. */
  viewer: Viewer;
  /** Enabled ones of these ids, and those that are in every turn; by slug, from memory. */
  selectedMcpServers(ids: readonly string[]): Promise<readonly McpServerRecord[]>;
  loaders: Loaders;
  /** For what admins get by other ways than the loaders, which note it themselves. */
  noteReads: NoteReads;
  commands: Commands;
  people: UserCommands;
  deployment: DeploymentCommands;
  limits: UsageLimitCommands;
  storage: StorageCommands;
  modelCommands: ModelCommands;
  workspaces: WorkspaceCommands;
  /** Idle milliseconds after which workspaces stop; null = each template's own. From memory. */
  deploymentTtlMs(): Promise<number | null>;
  /** For reads of the viewer: so many at one time. */
  database: Reads;
  chatEvents: ChatEventsSource;
  chatListEvents: ChatListEventsSource;
  gitSnapshots: GitSnapshotsSource;
  /** What git hosts say of chats' branches, asked now. Rights are the caller's to check. */
  branchDiffs: BranchDiffs;
  /** What registered tool servers have. */
  mcpTools: McpToolsSource;
  /** What the agent of a workspace says of itself; null when it is not there. */
  workspaceAgent(workspaceId: string): Promise<WorkspaceAgentFacts | null>;
  /** Where a file's bytes are, for a while also without a token. */
  fileUrl(fileId: string): string;
  /** Where an announced file's bytes are put, until then, in milliseconds since the epoch. */
  uploadUrl(fileId: string, expiresAt: number): string;
  /** What browsers subscribe to push messages with; null when it cannot be opened. */
  pushPublicKey(): Promise<string | null>;
  /** The server's version. */
  version: string;
  /** Names of the environment variables that hold a provider's key; the keys themselves stay out of reach. */
  keyVariables: ReadonlySet<string>;
  /** Ties log lines to the request. */
  requestId: string;
};

/** Who makes an admin's change, and in which request: what the audit log tells. */
export function actorOf({ viewer, requestId }: Context): Actor {
  return { ...viewer, requestId };
}
