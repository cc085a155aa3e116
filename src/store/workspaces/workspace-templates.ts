/** What workspaces are made of. There are few templates, so they are listed whole. */
import type { JsonObject } from "../../domain/common/json.js";
import type { TemplateParameter } from "../../domain/workspaces/workspace-parameters.js";
import type { TemplateSetup } from "../../domain/workspaces/template-rules.js";
import type { WorkspaceProvisioner } from "../../domain/workspaces/workspace.js";
import type { Queryable, Statement } from "../common/database.js";
import { fromJsonb, toJsonb } from "../common/jsonb-text.js";

export type WorkspaceTemplateRecord = TemplateSetup & { id: string; createdAt: Date };

type TemplateDbRow = {
  id: string;
  name: string;
  display_name: string;
  description: string;
  readme: string | null;
  provisioner: WorkspaceProvisioner;
  spec: JsonObject;
  parameters: TemplateParameter[];
  default_ttl_ms: string | null;
  allow_ttl_override: boolean;
  is_enabled: boolean;
  created_at: Date;
};

const columns = `t.id, t.name, t.display_name, t.description, t.readme, t.provisioner, t.spec, t.parameters,
  t.default_ttl_ms, t.allow_ttl_override, t.is_enabled, t.created_at`;

function toTemplate(row: TemplateDbRow): WorkspaceTemplateRecord {
  return {
    id: row.id,
    name: row.name,
    displayName: row.display_name,
    description: row.description,
    readme: row.readme,
    provisioner: row.provisioner,
    spec: fromJsonb(row.spec),
    parameters: fromJsonb(row.parameters),
    defaultTtlMs: row.default_ttl_ms === null ? null : Number(row.default_ttl_ms),
    allowTtlOverride: row.allow_ttl_override,
    isEnabled: row.is_enabled,
    createdAt: row.created_at,
  };
}

const LIST: Statement = {
  name: "workspace-templates.list",
  text: `SELECT ${columns} FROM workspace_templates t WHERE t.is_enabled OR $1 ORDER BY t.display_name, t.id`,
};

/** By what people call them. */
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

/** Those that exist, enabled or not, in no order. */
export async function findTemplates(
  db: Queryable,
  ids: readonly string[],
): Promise<WorkspaceTemplateRecord[]> {
  return (await db.query<TemplateDbRow>(FIND, [ids])).map(toTemplate);
}

export async function findTemplate(db: Queryable, id: string): Promise<WorkspaceTemplateRecord | null> {
  return (await findTemplates(db, [id]))[0] ?? null;
}

/** Index: workspace_templates_pkey. Kept from others until the transaction's end. */
const HOLD: Statement = {
  name: "workspace-templates.hold",
  text: `SELECT ${columns} FROM workspace_templates t WHERE t.id = $1 FOR UPDATE`,
};

export async function holdTemplate(
  transaction: Queryable,
  id: string,
): Promise<WorkspaceTemplateRecord | null> {
  const [row] = await transaction.query<TemplateDbRow>(HOLD, [id]);
  return row ? toTemplate(row) : null;
}

const INSERT: Statement = {
  name: "workspace-templates.insert",
  text: `INSERT INTO workspace_templates (id, name, display_name, description, readme, provisioner, spec, parameters,
      default_ttl_ms, allow_ttl_override, is_enabled)
    VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb, $8::jsonb, $9, $10, $11)
    ON CONFLICT ON CONSTRAINT workspace_templates_name_key DO NOTHING RETURNING created_at`,
};

/** Null when there is one of that name. */
export async function insertTemplate(
  db: Queryable,
  template: Omit<WorkspaceTemplateRecord, "createdAt">,
): Promise<WorkspaceTemplateRecord | null> {
  const { id, ...it } = template;
  const values = [id, it.name, it.displayName, it.description, it.readme, it.provisioner];
  const rest = [toJsonb(it.spec), toJsonb(it.parameters), it.defaultTtlMs, it.allowTtlOverride, it.isEnabled];
  const [made] = await db.query<Pick<TemplateDbRow, "created_at">>(INSERT, [...values, ...rest]);
  return made ? { ...template, createdAt: made.created_at } : null;
}

const UPDATE: Statement = {
  name: "workspace-templates.update",
  text: `UPDATE workspace_templates SET display_name = $2, description = $3, readme = $4, spec = $5::jsonb,
      parameters = $6::jsonb, default_ttl_ms = $7, allow_ttl_override = $8, is_enabled = $9, updated_at = now()
    WHERE id = $1`,
};

export async function updateTemplate(db: Queryable, it: WorkspaceTemplateRecord): Promise<void> {
  const texts = [it.id, it.displayName, it.description, it.readme];
  const rest = [toJsonb(it.spec), toJsonb(it.parameters), it.defaultTtlMs, it.allowTtlOverride, it.isEnabled];
  await db.query(UPDATE, [...texts, ...rest]);
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

/** Whether there is a template at all, enabled or not. */
export async function hasTemplates(db: Queryable): Promise<boolean> {
  const [row] = await db.query<{ any: boolean }>(ANY, []);
  return row?.any ?? false;
}
