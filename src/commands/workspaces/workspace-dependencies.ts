/** Dependencies of the workspace commands. */
import type { ValidateSpec } from "../../domain/workspaces/template-rules.js";
import type { Clock } from "../../lib/clock.js";
import type { Database } from "../../store/common/database.js";

export type WorkspaceDependencies = {
  database: Database;
  clock: Clock;
  validateSpec: ValidateSpec;
  /** Notifies every replica that templates or workspaces have changed. */
  announceWorkspaces(): void;
  /** Tells the workspace's agent which MCP servers may run now. */
  applyMcpPermissions(workspaceId: string): void;
};
