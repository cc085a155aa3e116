/** People make workspaces from templates, start, stop and delete them, and have chats work in them. */
import { randomBytes, randomUUID } from "node:crypto";
import { isWorking, wishedStatus, type WorkspaceWish } from "../../domain/workspaces/workspace-lifecycle.js";
import { resolveParameters } from "../../domain/workspaces/workspace-parameters.js";
import { generatedWorkspaceName, problemOfWorkspaceName } from "../../domain/workspaces/template-rules.js";
import type { Viewer } from "../../domain/users/viewer.js";
import { findChat } from "../../store/chats/chats.js";
import type { Queryable } from "../../store/common/database.js";
import {
  beginWork,
  bindWorkspace,
  countManagedWorkspaces,
  findCreated,
  holdStatus,
  insertManagedWorkspace,
  type NewWorkspace,
} from "../../store/workspaces/managed-workspaces.js";
import { findTemplate, type WorkspaceTemplateRecord } from "../../store/workspaces/workspace-templates.js";
import { findWorkspace } from "../../store/workspaces/workspaces.js";
import type { ChatChanged, CommandRefusal, CommandResult } from "../chats/chat-commands.js";
import { notFound, refuse } from "../common/command-dependencies.js";
import { invalid, refuseAll } from "../models/model-outcomes.js";
import type { WantedWorkspace, WorkspaceDependencies } from "./workspace-commands.js";

/** Of one person, from templates, whatever their state: each may be a volume that somebody pays for. */
export const MAX_WORKSPACES_PER_PERSON = 100;

/** The viewer's own. It is there when this returns, as `creating`; the rest goes on by itself. */
export async function createWorkspace(
  dependencies: WorkspaceDependencies,
  viewer: Viewer,
  wanted: WantedWorkspace,
): Promise<CommandResult<{ workspaceId: string }>> {
  const template = await findTemplate(dependencies.database, wanted.templateId);
  if (!template?.isEnabled) return notFound("workspace template", "templateId");
  const values = resolveParameters(template.parameters, wanted.parameters);
  const nameProblem = wanted.name === undefined ? null : problemOfWorkspaceName(wanted.name);
  const problems = [...(nameProblem ? [nameProblem] : []), ...(values.ok ? [] : values.problems)];
  if (!values.ok || problems.length > 0) return refuseAll(problems.map(invalid));
  const workspace = {
    id: randomUUID(),
    ownerId: viewer.userId,
    name: wanted.name ?? nameFrom(template),
    templateId: template.id,
    parameters: values.values,
    creationKey: wanted.creationKey ?? null,
  };
  const result = await dependencies.database.transaction((transaction) =>
    insert(dependencies, transaction, workspace, wanted.chatId),
  );
  if (result.ok) dependencies.announceWorkspaces();
  return result;
}

async function insert(
  dependencies: WorkspaceDependencies,
  transaction: Queryable,
  workspace: NewWorkspace,
  chatId: string | undefined,
): Promise<CommandResult<{ workspaceId: string }>> {
  const { ownerId, creationKey } = workspace;
  const isMade =
    (await countManagedWorkspaces(transaction, ownerId)) < MAX_WORKSPACES_PER_PERSON
      ? await insertManagedWorkspace(transaction, workspace, dependencies.clock.now())
      : null;
  const before = isMade || creationKey === null ? null : await findCreated(transaction, creationKey, ownerId);
  const workspaceId = isMade ? workspace.id : before;
  if (workspaceId === null) return refuse(isMade === null ? TOO_MANY : NAME_TAKEN);
  if (chatId !== undefined) await bindWorkspace(transaction, chatId, workspaceId);
  return { ok: true, workspaceId };
}

const TOO_MANY: CommandRefusal = {
  code: "LIMIT_EXCEEDED",
  message: `A person has at most ${MAX_WORKSPACES_PER_PERSON} workspaces. Delete one first.`,
};
const NAME_TAKEN: CommandRefusal = {
  code: "CONFLICT",
  message: "Another workspace has this name.",
  path: ["name"],
};

const SUFFIX_BYTES = 2;
function nameFrom({ name }: WorkspaceTemplateRecord): string {
  return generatedWorkspaceName(name, randomBytes(SUFFIX_BYTES).toString("hex"));
}

/** Also of others' workspaces, for admins. */
export async function wishOfWorkspace(
  dependencies: WorkspaceDependencies,
  viewer: Viewer,
  { workspaceId, wish }: { workspaceId: string; wish: WorkspaceWish },
): Promise<CommandResult<{ workspaceId: string }>> {
  const workspace = await findWorkspace(dependencies.database, viewer, workspaceId);
  if (workspace === null) return notFound("workspace", "workspaceId");
  if (workspace.templateId === null) return refuse(NOT_OURS);
  const result = await dependencies.database.transaction(async (transaction) => {
    const status = await holdStatus(transaction, workspaceId);
    if (status === null) return notFound("workspace", "workspaceId");
    const wished = wishedStatus(status, wish);
    if (wished === null) {
      const message = "The workspace is being deleted.";
      const path = ["workspaceId"];
      return refuse({ code: "UNAVAILABLE", message, path, workspaceStatus: status });
    }
    const isNew = wished !== status && isWorking(wished);
    if (isNew) await beginWork(transaction, workspaceId, wished, dependencies.clock.now());
    return { ok: true as const, workspaceId, isNew };
  });
  if (!result.ok) return result;
  if (result.isNew) dependencies.announceWorkspaces();
  return { ok: true, workspaceId };
}

const NOT_OURS: CommandRefusal = {
  code: "CONFLICT",
  message: "This workspace was not made from a template: whoever runs its agent starts and stops it.",
  path: ["workspaceId"],
};

/** Turns that run now end where they began. */
export async function attachWorkspace(
  dependencies: WorkspaceDependencies,
  viewer: Viewer,
  { chatId, workspaceId }: { chatId: string; workspaceId: string },
): Promise<CommandResult<ChatChanged>> {
  const chat = await findChat(dependencies.database, viewer, chatId);
  if (chat === null) return notFound("chat", "chatId");
  // Whose chat it is works there, so it must be theirs.
  const workspace = await findWorkspace(dependencies.database, viewer, workspaceId);
  if (workspace === null || workspace.ownerId !== chat.ownerId) return notFound("workspace", "workspaceId");
  await bindWorkspace(dependencies.database, chatId, workspaceId);
  return { ok: true, chatId, version: chat.state.snapshotVersion };
}
