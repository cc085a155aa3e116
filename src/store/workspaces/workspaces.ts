/** Reads of workspaces as their owner or an admin may see them, and the local workspace. */
import { randomUUID } from "node:crypto";
import type { Viewer } from "../../domain/users/viewer.js";
import type { RegisteredAgent, WorkspaceStatus } from "../../domain/workspaces/workspace.js";
import type { Queryable, Statement } from "../common/database.js";
import { type Selected, selectionOf } from "../common/entity-columns.js";
import { WorkspaceEntity } from "./workspace.entity.js";
import {
  GREATEST_UUID,
  LEAST_UUID,
  type Page,
  type PageRequest,
  containing,
  microsOf,
  timestampOf,
  toPage,
} from "../common/pages.js";

const plain = selectionOf(WorkspaceEntity, "w", [
  ...(["id", "ownerId", "name", "provisioner", "templateId", "directory", "failure"] as const),
  ...(["createdAt", "lastUsedAt"] as const),
]);

/** Times in milliseconds since the epoch. */
export type WorkspaceRecord = ReturnType<(typeof plain)["read"]> & {
  /** External: `running` while its agent is registered. From a template: its lifecycle's status. */
  status: WorkspaceStatus;
  /** What the registered agent reported; null = none is registered now. */
  agent: RegisteredAgent | null;
};

type WorkspaceDbRow = Selected<ReturnType<(typeof plain)["read"]>> &
  Pick<WorkspaceRecord, "status" | "agent">;

/** An expired registration counts as none, so that the death of a replica leaves none behind. */
const columns = `${plain.columns},
  CASE WHEN w.template_id IS NULL AND w.agent_expires_at > now() THEN 'running' ELSE w.status END AS status,
  CASE WHEN w.agent_expires_at > now() THEN w.agent END AS agent`;

function toWorkspaceRecord(row: WorkspaceDbRow): WorkspaceRecord {
  return { status: row.status, agent: row.agent, ...plain.read(row) };
}

/** The same user and directory are the same workspace, whatever it was named later. */
const ENSURE_LOCAL: Statement = {
  name: "workspaces.ensure-local",
  text: `
    INSERT INTO workspaces AS w (id, owner_id, name, provisioner, directory, status)
    VALUES ($1, $2, $3, 'local', $4, 'running')
    ON CONFLICT ON CONSTRAINT workspaces_place_key DO UPDATE SET status = 'running', failure = NULL
    RETURNING ${columns}`,
};

/** The user's workspace in a directory of this machine, created when there is none. Safe to call from many replicas. */
export async function ensureLocalWorkspace(
  db: Queryable,
  wanted: { ownerId: string; directory: string; name: string },
): Promise<WorkspaceRecord> {
  const values = [randomUUID(), wanted.ownerId, wanted.name, wanted.directory];
  const [row] = await db.query<WorkspaceDbRow>(ENSURE_LOCAL, values);
  if (!row) throw new Error("The workspace was neither created nor found.");
  return toWorkspaceRecord(row);
}

const FIND: Statement = {
  name: "workspaces.find",
  text: `SELECT ${columns} FROM workspaces w WHERE w.id = ANY($1::uuid[]) AND (w.owner_id = $2 OR $3)`,
};

/** The workspaces that exist and that the viewer may see, as owner or admin; in no order. */
export async function findWorkspaces(
  db: Queryable,
  viewer: Viewer,
  ids: readonly string[],
): Promise<WorkspaceRecord[]> {
  const rows = await db.query<WorkspaceDbRow>(FIND, [ids, viewer.userId, viewer.role === "admin"]);
  return rows.map(toWorkspaceRecord);
}

/** Null when there is no such workspace or the viewer may not see it. */
export async function findWorkspace(
  db: Queryable,
  viewer: Viewer,
  id: string,
): Promise<WorkspaceRecord | null> {
  const [found] = await findWorkspaces(db, viewer, [id]);
  return found ?? null;
}

/** A user has few workspaces, so sorting them needs no index of its own. */
function listStatement(direction: PageRequest["direction"]): Statement {
  const sort = direction === "forwards" ? "DESC" : "ASC";
  return {
    name: `workspaces.list.${direction}`,
    text: `
      SELECT ${columns}, ${microsOf("w.created_at")} AS "sortKey" FROM workspaces w
      WHERE w.owner_id = $1 AND ($2::text IS NULL OR w.name ILIKE $2)
        AND (w.created_at, w.id) < (${timestampOf("$3", "infinity")}, coalesce($4::uuid, '${GREATEST_UUID}'))
        AND (w.created_at, w.id) > (${timestampOf("$5", "-infinity")}, coalesce($6::uuid, '${LEAST_UUID}'))
      ORDER BY w.created_at ${sort}, w.id ${sort}
      LIMIT $7`,
  };
}

const LIST = { forwards: listStatement("forwards"), backwards: listStatement("backwards") };

/** The viewer's own workspaces, newest first. `search` is a part of the name, in any case. */
export async function listWorkspaces(
  db: Queryable,
  viewer: Viewer,
  search: string | null,
  page: PageRequest,
): Promise<Page<WorkspaceRecord>> {
  const rows = await db.query<WorkspaceDbRow & { id: string; sortKey: string }>(LIST[page.direction], [
    viewer.userId,
    search ? containing(search) : null,
    page.after?.key ?? null,
    page.after?.id ?? null,
    page.before?.key ?? null,
    page.before?.id ?? null,
    page.limit + 1,
  ]);
  return toPage(
    page,
    rows.map((row) => ({ cursor: { key: row.sortKey, id: row.id }, row: toWorkspaceRecord(row) })),
  );
}

/** Index: workspaces_pkey. Never sets an earlier time: the clocks of replicas differ a little. */
const TOUCH: Statement = {
  name: "workspaces.touch",
  text: `
    UPDATE workspaces SET last_used_at = $2
    WHERE id = ANY($1::uuid[]) AND last_used_at <= $2::timestamptz - interval '1 minute'`,
};

/** Records that the workspaces are in use; to the minute, which is exact enough for idle times. */
export async function touchWorkspaces(db: Queryable, ids: readonly string[], now: number): Promise<void> {
  await db.query(TOUCH, [ids, new Date(now)]);
}

const READ: Statement = {
  name: "workspaces.read",
  text: `SELECT ${columns} FROM workspaces w WHERE w.id = $1`,
};

/** For work on behalf of a chat: access was checked when the workspace was bound to the chat. */
export async function readWorkspace(db: Queryable, id: string): Promise<WorkspaceRecord | null> {
  const [row] = await db.query<WorkspaceDbRow>(READ, [id]);
  return row ? toWorkspaceRecord(row) : null;
}
