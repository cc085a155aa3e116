/** Commands on workspaces and their templates, bound to their dependencies. */
import { bindDependencies } from "../common/bind-dependencies.js";
import { allowMcpServer, forbidMcpServer } from "./mcp-permissions.js";
import type { WorkspaceDependencies } from "./workspace-dependencies.js";
import { createTemplate, deleteTemplate, updateTemplate } from "./workspace-templates.js";
import { attachWorkspace, createWorkspace, setDesiredState } from "./workspaces.js";

export type WorkspaceCommands = ReturnType<typeof createWorkspaceCommands>;

export function createWorkspaceCommands(dependencies: WorkspaceDependencies) {
  return bindDependencies(dependencies, {
    ...{ allowMcpServer, forbidMcpServer },
    ...{ createWorkspace, setDesiredState, attachWorkspace },
    ...{ createTemplate, updateTemplate, deleteTemplate },
  });
}
