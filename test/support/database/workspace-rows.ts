// Inserts templates and workspaces straight into the database, for tests of what uses them.
import { randomUUID } from "node:crypto";
import type { TemplateSetup } from "../../../src/domain/workspaces/template-rules.js";
import { isWorking } from "../../../src/domain/workspaces/workspace-lifecycle.js";
import type { WorkspaceStatus } from "../../../src/domain/workspaces/workspace.js";
import type { Database } from "../../../src/store/common/database.js";
import { insertManagedWorkspace } from "../../../src/store/workspaces/managed-workspaces.js";
import {
  insertTemplate,
  type WorkspaceTemplateRecord,
} from "../../../src/store/workspaces/workspace-templates.js";

/** Defaults to a directory template without parameters. */
export async function insertSomeTemplate(
  db: Database,
  overrides: Partial<TemplateSetup> = {},
): Promise<WorkspaceTemplateRecord> {
  const id = randomUUID();
  const template = await insertTemplate(db, {
    ...{ id, name: `t-${id.slice(0, 8)}`, displayName: `Template ${id}`, description: "", readme: null },
    ...{ provisioner: "local", spec: {}, parameters: [], defaultTtlMs: null },
    ...{ allowTtlOverride: true, isEnabled: true, ...overrides },
  });
  if (!template) throw new Error("There is a template of that name.");
  return template;
}

/** Inserts a workspace in its desired state, unless the status says otherwise. */
export async function insertSomeWorkspace(
  db: Database,
  {
    ownerId,
    templateId,
    status = "stopped",
  }: { ownerId: string; templateId: string; status?: WorkspaceStatus },
  now = Date.now(),
): Promise<string> {
  const id = randomUUID();
  const name = `w-${id.slice(0, 8)}`;
  const wanted = { id, ownerId, name, templateId, parameters: {}, creationKey: null };
  await insertManagedWorkspace(db, wanted, now);
  const text = `UPDATE workspaces SET status = $2, work_due_at = CASE WHEN $3::boolean THEN work_due_at END WHERE id = $1`;
  await db.query({ name: "test.set-workspace-status", text }, [id, status, isWorking(status)]);
  return id;
}
