/** The commands about workspaces as one object, for whoever speaks for people. */
import type { WorkspaceCommands, WorkspaceDependencies } from "./workspace-commands.js";
import { createTemplate, deleteTemplate, updateTemplate } from "./workspace-templates.js";
import { attachWorkspace, createWorkspace, wishOfWorkspace } from "./workspaces.js";

export function createWorkspaceCommands(dependencies: WorkspaceDependencies): WorkspaceCommands {
  return {
    createWorkspace: (viewer, wanted) => createWorkspace(dependencies, viewer, wanted),
    wish: (viewer, workspaceId, wish) => wishOfWorkspace(dependencies, viewer, { workspaceId, wish }),
    attachWorkspace: (viewer, input) => attachWorkspace(dependencies, viewer, input),
    createTemplate: (actor, wanted) => createTemplate(dependencies, actor, wanted),
    updateTemplate: (actor, change) => updateTemplate(dependencies, actor, change),
    deleteTemplate: (actor, templateId) => deleteTemplate(dependencies, actor, templateId),
  };
}
