/** Admin commands on templates: each is one transaction with its audit entry, then announced to all replicas. */
import { randomUUID } from "node:crypto";
import { auditChanges } from "../../domain/users/audit.js";
import { encodeId } from "../../domain/common/ids.js";
import {
  planTemplate,
  planTemplateChange,
  type TemplateChange,
  type TemplateInput,
} from "../../domain/workspaces/template-rules.js";
import type { Actor } from "../../domain/users/viewer.js";
import {
  countWorkspacesOf,
  lockTemplate,
  insertTemplate,
  listTemplates,
  removeTemplate,
  updateTemplate as writeTemplate,
  type WorkspaceTemplateRecord,
} from "../../store/workspaces/workspace-templates.js";
import { type AdminWork, asAdmin } from "../users/admin.js";
import type { CommandRefusal, CommandResult } from "../common/command-result.js";
import { invalid, refuseAll } from "../models/model-outcomes.js";
import type { WorkspaceDependencies } from "./workspace-dependencies.js";

/** The list of templates is not paginated. */
const MAX_TEMPLATES = 200;

type Changed = { template: WorkspaceTemplateRecord };

export async function createTemplate(
  dependencies: WorkspaceDependencies,
  actor: Actor,
  wanted: TemplateInput,
): Promise<CommandResult<Changed>> {
  const result = await asAdmin(dependencies, actor, async (transaction): Promise<AdminWork<Changed>> => {
    const plan = planTemplate(wanted, dependencies.validateSpec);
    if (!plan.ok) return refuseAll(plan.problems.map(invalid));
    if ((await listTemplates(transaction, { includeDisabled: true })).length >= MAX_TEMPLATES) {
      const message = `At most ${MAX_TEMPLATES} templates can be set up. Delete one first.`;
      return refuseAll([{ code: "LIMIT_EXCEEDED", message }]);
    }
    const template = await insertTemplate(transaction, { id: randomUUID(), ...plan.setup });
    if (!template) return refuseAll([NAME_TAKEN]);
    return { ok: true, result: { template }, audit: auditEntry("created", null, template) };
  });
  return announced(dependencies, result);
}

/** Existing workspaces keep the spec that they were created with; a new idle time applies at once. */
export async function updateTemplate(
  dependencies: WorkspaceDependencies,
  actor: Actor,
  { templateId, ...change }: TemplateChange & { templateId: string },
): Promise<CommandResult<Changed>> {
  const result = await asAdmin(dependencies, actor, async (transaction): Promise<AdminWork<Changed>> => {
    const before = await lockTemplate(transaction, templateId);
    if (before === null) return refuseAll([NO_SUCH_TEMPLATE]);
    const plan = planTemplateChange(before, change, dependencies.validateSpec);
    if (!plan.ok) return refuseAll(plan.problems.map(invalid));
    const template = { id: before.id, createdAt: before.createdAt, ...plan.setup };
    const audit = auditEntry("updated", before, template);
    if (Object.keys(audit.changes).length === 0)
      return { ok: true, result: { template: before }, audit: null };
    await writeTemplate(transaction, template);
    return { ok: true, result: { template }, audit };
  });
  return announced(dependencies, result);
}

export async function deleteTemplate(
  dependencies: WorkspaceDependencies,
  actor: Actor,
  templateId: string,
): Promise<CommandResult<{ templateId: string }>> {
  const result = await asAdmin(
    dependencies,
    actor,
    async (transaction): Promise<AdminWork<{ templateId: string }>> => {
      const gone = await lockTemplate(transaction, templateId);
      if (gone === null) return refuseAll([NO_SUCH_TEMPLATE]);
      const count = await countWorkspacesOf(transaction, templateId);
      if (count > 0) {
        const message = `There are workspaces of this template: ${count}. Delete them first, or disable the template.`;
        return refuseAll([{ code: "CONFLICT", message, path: ["templateId"] }]);
      }
      await removeTemplate(transaction, templateId);
      return { ok: true, result: { templateId }, audit: auditEntry("deleted", gone, null) };
    },
  );
  return announced(dependencies, result);
}

const NO_SUCH_TEMPLATE: CommandRefusal = {
  code: "NOT_FOUND",
  message: "There is no such workspace template.",
  path: ["templateId"],
};
const NAME_TAKEN: CommandRefusal = {
  code: "CONFLICT",
  message: "Another template has this name.",
  path: ["name"],
};

/** Announces a change after its commit, so that replicas that reload read the committed state. */
function announced<T>(dependencies: WorkspaceDependencies, result: CommandResult<T>): CommandResult<T> {
  if (result.ok) dependencies.announceWorkspaces();
  return result;
}

function auditEntry(
  verb: "created" | "updated" | "deleted",
  before: WorkspaceTemplateRecord | null,
  after: WorkspaceTemplateRecord | null,
) {
  const named = after ?? before;
  return {
    action: `workspace_template_${verb}` as const,
    targetId: named && encodeId("tpl", named.id),
    targetName: named && named.displayName,
    changes: auditChanges(before && audited(before), after && audited(after)),
  };
}

/** The admin's settings, as compared for the audit log. The readme is represented by its length. */
function audited({ id: _id, createdAt: _createdAt, readme, ...template }: WorkspaceTemplateRecord) {
  return { ...template, readme: readme && `${readme.length} characters` };
}
