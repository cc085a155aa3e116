/** Templates that workspaces are made from. There are few, so lists are read whole. */
import type { TemplateSetup } from "../../domain/workspaces/template-rules.js";
import type { Queryable, Statement } from "../common/database.js";
import {
  Parameters,
  type Selected,
  selectionOf,
  writtenColumn,
  writtenColumns,
} from "../common/entity-columns.js";
import { WorkspaceTemplateEntity } from "./workspace-template.entity.js";

export type WorkspaceTemplateRecord = TemplateSetup & { id: string; createdAt: Date };

/** Columns that admins set and change. */
const SETTINGS = [
  ...(["displayName", "description", "readme", "spec", "parameters", "defaultTtlMs"] as const),
  ...(["allowTtlOverride", "isEnabled"] as const),
] as const;

const template = selectionOf(WorkspaceTemplateEntity, "t", [
  ...(["id", "name", "provisioner", ...SETTINGS, "createdAt"] as const),
]);
type TemplateDbRow = Selected<WorkspaceTemplateRecord>;
const { columns, read: toTemplate } = template;

const LIST: Statement = {
  name: "workspace-templates.list",
  text: `SELECT ${columns} FROM workspace_templates t WHERE t.is_enabled OR $1 ORDER BY t.display_name, t.id`,
};

/** By display name. */
export async function listTemplates(
  db: Queryable,
  { includeDisabled }: { includeDisabled: boolean },
): Promise<WorkspaceTemplateRecord[]> {
  return (await db.query<TemplateDbRow>(LIST, [includeDisabled])).map(toTemplate);
}

/** Index: workspace_templates_pkey. */
const FIND: Statement = {
  name: "workspace-templates.find",
  text: `SELECT ${columns} FROM workspace_templates t WHERE t.id = ANY($1::uuid[])`,
};

/** The templates that exist, enabled or not; in no order. */
export async function findTemplates(
  db: Queryable,
  ids: readonly string[],
): Promise<WorkspaceTemplateRecord[]> {
  return (await db.query<TemplateDbRow>(FIND, [ids])).map(toTemplate);
}

export async function findTemplate(db: Queryable, id: string): Promise<WorkspaceTemplateRecord | null> {
  return (await findTemplates(db, [id]))[0] ?? null;
}

/** Index: workspace_templates_pkey. */
const LOCK: Statement = {
  name: "workspace-templates.lock",
  text: `SELECT ${columns} FROM workspace_templates t WHERE t.id = $1 FOR UPDATE`,
};

/** Locks the template until the transaction ends. Null when there is no such template. */
export async function lockTemplate(
  transaction: Queryable,
  id: string,
): Promise<WorkspaceTemplateRecord | null> {
  const [row] = await transaction.query<TemplateDbRow>(LOCK, [id]);
  return row ? toTemplate(row) : null;
}

type TemplateValues = Omit<WorkspaceTemplateRecord, "createdAt">;

const INSERT = (() => {
  const parameters = new Parameters<TemplateValues>();
  const written = writtenColumns(WorkspaceTemplateEntity, ["id", "name", "provisioner", ...SETTINGS]);
  const text = `INSERT INTO workspace_templates ${parameters.row(written)}
    ON CONFLICT ON CONSTRAINT workspace_templates_name_key DO NOTHING RETURNING created_at AS "createdAt"`;
  return { parameters, statement: { name: "workspace-templates.insert", text } };
})();

/** Null when there is one of that name. */
export async function insertTemplate(
  db: Queryable,
  values: TemplateValues,
): Promise<WorkspaceTemplateRecord | null> {
  const { statement, parameters } = INSERT;
  const [made] = await db.query<Pick<WorkspaceTemplateRecord, "createdAt">>(
    statement,
    parameters.valuesOf(values),
  );
  return made ? { ...values, ...made } : null;
}

const UPDATE = (() => {
  const parameters = new Parameters<WorkspaceTemplateRecord>();
  const written = writtenColumns(WorkspaceTemplateEntity, SETTINGS);
  const id = parameters.add(
    writtenColumn(WorkspaceTemplateEntity, "id", (values: WorkspaceTemplateRecord) => values.id),
  );
  const text = `UPDATE workspace_templates SET ${parameters.assignments(written)}, updated_at = now() WHERE id = ${id}`;
  return { parameters, statement: { name: "workspace-templates.update", text } };
})();

export async function updateTemplate(db: Queryable, values: WorkspaceTemplateRecord): Promise<void> {
  await db.query(UPDATE.statement, UPDATE.parameters.valuesOf(values));
}

/** Index: workspaces_template_idx. */
const COUNT_WORKSPACES: Statement = {
  name: "workspace-templates.count-workspaces",
  text: "SELECT count(*)::int AS count FROM workspaces WHERE template_id = $1",
};

export async function countWorkspacesOf(db: Queryable, templateId: string): Promise<number> {
  const [row] = await db.query<{ count: number }>(COUNT_WORKSPACES, [templateId]);
  return row?.count ?? 0;
}

const DELETE: Statement = {
  name: "workspace-templates.delete",
  text: "DELETE FROM workspace_templates WHERE id = $1",
};

/** There must be no workspace of it. */
export async function removeTemplate(db: Queryable, id: string): Promise<void> {
  await db.query(DELETE, [id]);
}

const ANY: Statement = {
  name: "workspace-templates.any",
  text: "SELECT EXISTS (SELECT FROM workspace_templates) AS any",
};

/** Whether there is any template, enabled or not. */
export async function hasTemplates(db: Queryable): Promise<boolean> {
  const [row] = await db.query<{ any: boolean }>(ANY, []);
  return row?.any ?? false;
}
