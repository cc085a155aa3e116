/** What may be asked of workspaces and of the templates that they are made from. */
import type { JudgeSpec, TemplateChange, WantedTemplate } from "../../domain/workspaces/template-rules.js";
import type { WorkspaceWish } from "../../domain/workspaces/workspace-lifecycle.js";
import type { GivenParameter } from "../../domain/workspaces/workspace-parameters.js";
import type { Actor, Viewer } from "../../domain/users/viewer.js";
import type { Clock } from "../../lib/clock.js";
import type { Database } from "../../store/common/database.js";
import type { WorkspaceTemplateRecord } from "../../store/workspaces/workspace-templates.js";
import type { ChatChanged, CommandResult } from "../chats/chat-commands.js";

export type WorkspaceDependencies = {
  database: Database;
  clock: Clock;
  judgeSpec: JudgeSpec;
  /** Templates or workspaces are not any more as they were: whoever remembers or drives them looks anew. */
  announceWorkspaces(): void;
};

export type WantedWorkspace = {
  templateId: string;
  /** Absent = made from the template's name. */
  name?: string | undefined;
  parameters: readonly GivenParameter[];
  /** The same key again finds what was made with it. */
  creationKey?: string | undefined;
  /** Works there from the moment that the workspace is there; must be its owner's. */
  chatId?: string | undefined;
};

export type WorkspaceCommands = {
  createWorkspace(viewer: Viewer, wanted: WantedWorkspace): Promise<CommandResult<{ workspaceId: string }>>;
  /** Begins what is wished; where it is so already, nothing. */
  wish(
    viewer: Viewer,
    workspaceId: string,
    wish: WorkspaceWish,
  ): Promise<CommandResult<{ workspaceId: string }>>;
  attachWorkspace(
    viewer: Viewer,
    input: { chatId: string; workspaceId: string },
  ): Promise<CommandResult<ChatChanged>>;
  createTemplate(
    actor: Actor,
    wanted: WantedTemplate,
  ): Promise<CommandResult<{ template: WorkspaceTemplateRecord }>>;
  updateTemplate(
    actor: Actor,
    change: TemplateChange & { templateId: string },
  ): Promise<CommandResult<{ template: WorkspaceTemplateRecord }>>;
  deleteTemplate(actor: Actor, templateId: string): Promise<CommandResult<{ templateId: string }>>;
};
