/** Commands on workspaces: create from a template, start, stop, delete, and attach to a chat. */
import { randomBytes, randomUUID } from "node:crypto";
import {
  isWorking,
  targetStatus,
  type WorkspaceAction,
} from "../../domain/workspaces/workspace-lifecycle.js";
import { type ParameterInput, resolveParameters } from "../../domain/workspaces/workspace-parameters.js";
import { generatedWorkspaceName, problemOfWorkspaceName } from "../../domain/workspaces/template-rules.js";
import type { Viewer } from "../../domain/users/viewer.js";
import { findChat } from "../../store/chats/chats.js";
import type { Queryable } from "../../store/common/database.js";
import {
  beginWork,
  bindWorkspace,
  countManagedWorkspaces,
  findCreated,
  lockStatus,
  insertManagedWorkspace,
  type NewWorkspace,
} from "../../store/workspaces/managed-workspaces.js";
import { findTemplate, type WorkspaceTemplateRecord } from "../../store/workspaces/workspace-templates.js";
import { findWorkspace } from "../../store/workspaces/workspaces.js";
import type { ChatChanged, CommandRefusal, CommandResult } from "../common/command-result.js";
import { notFound, refuse } from "../common/command-dependencies.js";
import { invalid, refuseAll } from "../models/model-outcomes.js";
import type { WorkspaceDependencies } from "./workspace-dependencies.js";

/** Of one user, from templates, in any state: each may be a volume that costs money. */
const MAX_WORKSPACES_PER_USER = 100;

export type CreateWorkspaceInput = {
  templateId: string;
  /** Absent = generated from the template's name. */
  name?: string | undefined;
  parameters: readonly ParameterInput[];
  /** Repeating a key returns the workspace that was created with it. */
  creationKey?: string | undefined;
  /** A chat to attach, of the workspace's owner. */
  chatId?: string | undefined;
};

/** Creates a workspace of the viewer's. Returns while it is `creating`; the lifecycle service does the rest. */
export async function createWorkspace(
  dependencies: WorkspaceDependencies,
  viewer: Viewer,
  input: CreateWorkspaceInput,
): Promise<CommandResult<{ workspaceId: string }>> {
  const template = await findTemplate(dependencies.database, input.templateId);
  if (!template?.isEnabled) return notFound("workspace template", "templateId");
  const values = resolveParameters(template.parameters, input.parameters);
  const nameProblem = input.name === undefined ? null : problemOfWorkspaceName(input.name);
  const problems = [...(nameProblem ? [nameProblem] : []), ...(values.ok ? [] : values.problems)];
  if (!values.ok || problems.length > 0) return refuseAll(problems.map(invalid));
  const workspace = {
    id: randomUUID(),
    ownerId: viewer.userId,
    name: input.name ?? nameFrom(template),
    templateId: template.id,
    parameters: values.values,
    creationKey: input.creationKey ?? null,
  };
  const result = await dependencies.database.transaction((transaction) =>
    insert(dependencies, transaction, workspace, input.chatId),
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
  const isInserted =
    (await countManagedWorkspaces(transaction, ownerId)) < MAX_WORKSPACES_PER_USER
      ? await insertManagedWorkspace(transaction, workspace, dependencies.clock.now())
      : null;
  const existing =
    isInserted || creationKey === null ? null : await findCreated(transaction, creationKey, ownerId);
  const workspaceId = isInserted ? workspace.id : existing;
  if (workspaceId === null) return refuse(isInserted === null ? TOO_MANY : NAME_TAKEN);
  if (chatId !== undefined) await bindWorkspace(transaction, chatId, workspaceId);
  return { ok: true, workspaceId };
}

const TOO_MANY: CommandRefusal = {
  code: "LIMIT_EXCEEDED",
  message: `A user has at most ${MAX_WORKSPACES_PER_USER} workspaces. Delete one first.`,
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

/**
 * Starts, stops or deletes a workspace; nothing happens when that is already so or under way. Admins may change others'
 * workspaces.
 */
export async function setDesiredState(
  dependencies: WorkspaceDependencies,
  viewer: Viewer,
  { workspaceId, action }: { workspaceId: string; action: WorkspaceAction },
): Promise<CommandResult<{ workspaceId: string }>> {
  const workspace = await findWorkspace(dependencies.database, viewer, workspaceId);
  if (workspace === null) return notFound("workspace", "workspaceId");
  if (workspace.templateId === null) return refuse(NOT_FROM_TEMPLATE);
  const result = await dependencies.database.transaction(async (transaction) => {
    const status = await lockStatus(transaction, workspaceId);
    if (status === null) return notFound("workspace", "workspaceId");
    const target = targetStatus(status, action);
    if (target === null) {
      const message = "The workspace is being deleted.";
      const path = ["workspaceId"];
      return refuse({ code: "UNAVAILABLE", message, path, workspaceStatus: status });
    }
    const isNew = target !== status && isWorking(target);
    if (isNew) await beginWork(transaction, workspaceId, target, dependencies.clock.now());
    return { ok: true as const, workspaceId, isNew };
  });
  if (!result.ok) return result;
  if (result.isNew) dependencies.announceWorkspaces();
  return { ok: true, workspaceId };
}

const NOT_FROM_TEMPLATE: CommandRefusal = {
  code: "CONFLICT",
  message: "This workspace was not made from a template: it is started and stopped where its agent runs.",
  path: ["workspaceId"],
};

/** The chat's turns use the workspace from the next one on; a running turn ends in its own. */
export async function attachWorkspace(
  dependencies: WorkspaceDependencies,
  viewer: Viewer,
  { chatId, workspaceId }: { chatId: string; workspaceId: string },
): Promise<CommandResult<ChatChanged>> {
  const chat = await findChat(dependencies.database, viewer, chatId);
  if (chat === null) return notFound("chat", "chatId");
  // Turns work there in the name of the chat's owner, so the workspace must be theirs.
  const workspace = await findWorkspace(dependencies.database, viewer, workspaceId);
  if (workspace === null || workspace.ownerId !== chat.ownerId) return notFound("workspace", "workspaceId");
  await bindWorkspace(dependencies.database, chatId, workspaceId);
  return { ok: true, chatId, version: chat.state.snapshotVersion };
}
