/** The commands about workspaces as one object, for whoever speaks for people. */
import type { WorkspaceCommands, WorkspaceParts } from "./workspace-commands.js";
import { createTemplate, deleteTemplate, updateTemplate } from "./workspace-templates.js";
import { attachWorkspace, createWorkspace, wishOfWorkspace } from "./workspaces.js";

export function createWorkspaceCommands(parts: WorkspaceParts): WorkspaceCommands {
  return {
    createWorkspace: (viewer, wanted) => createWorkspace(parts, viewer, wanted),
    wish: (viewer, workspaceId, wish) => wishOfWorkspace(parts, viewer, { workspaceId, wish }),
    attachWorkspace: (viewer, input) => attachWorkspace(parts, viewer, input),
    createTemplate: (actor, wanted) => createTemplate(parts, actor, wanted),
    updateTemplate: (actor, change) => updateTemplate(parts, actor, change),
    deleteTemplate: (actor, templateId) => deleteTemplate(parts, actor, templateId),
  };
}
