/** Users' connections to git hosts. Tokens are sealed; callers open them one at a time. */
import { randomUUID } from "node:crypto";
import type { GitHostKind } from "../../domain/git/git-hosts.js";
import type { Queryable, Statement } from "../common/database.js";
import { selectionOf } from "../common/entity-columns.js";
import { GitConnectionEntity } from "./git-connection.entity.js";
import type { OpenedSecret, SecretBox } from "../common/secret-box.js";
import { columnReference } from "../common/secret-columns.js";

/** More hosts than a user has; beyond it a program is making them. */
export const MAX_GIT_CONNECTIONS = 50;

const connection = selectionOf(GitConnectionEntity, "", [
  ...(["id", "userId", "host", "login", "connectedAt"] as const),
]);
const FIELDS = connection.columns;

/** A connection without its token. `login`: the token's account at the host; null until the host was asked. */
export type GitConnectionRecord = ReturnType<(typeof connection)["read"]>;

/** A token is sealed for the row it is in, so a new token comes with a new id. Finds its row by git_connections_host_key. */
const CONNECT: Statement = {
  name: "git-connections.connect",
  text: `
    INSERT INTO git_connections (id, user_id, host, token)
    SELECT $1, $2, $3, $4
    WHERE (SELECT count(*) FROM git_connections WHERE user_id = $2 AND host <> $3) < $5
    ON CONFLICT (user_id, host) DO UPDATE
      SET id = excluded.id, token = excluded.token, login = NULL, kind = NULL, ask_at = now(), connected_at = now()
    RETURNING ${FIELDS}`,
};

/** Replaces an earlier connection to the same host. Null when the user has `MAX_GIT_CONNECTIONS` others. */
export async function connectGitHost(
  db: Queryable,
  box: SecretBox,
  input: { userId: string; host: string; token: string },
): Promise<GitConnectionRecord | null> {
  const id = randomUUID();
  const sealed = box.seal(input.token, columnReference("git_connections", "token", id));
  const values = [id, input.userId, input.host, sealed, MAX_GIT_CONNECTIONS];
  const [made] = await db.query<GitConnectionRecord>(CONNECT, values);
  return made ?? null;
}

const DISCONNECT: Statement = {
  name: "git-connections.disconnect",
  text: "DELETE FROM git_connections WHERE id = $1 AND user_id = $2 RETURNING id",
};

/** False when the user has no such connection. */
export async function disconnectGitHost(db: Queryable, userId: string, id: string): Promise<boolean> {
  return (await db.query(DISCONNECT, [id, userId])).length > 0;
}

const LIST: Statement = {
  name: "git-connections.list",
  text: `SELECT ${FIELDS} FROM git_connections WHERE user_id = $1 ORDER BY host`,
};

export async function listGitConnections(db: Queryable, userId: string): Promise<GitConnectionRecord[]> {
  return db.query<GitConnectionRecord>(LIST, [userId]);
}

const FIND: Statement = {
  name: "git-connections.find",
  text: `SELECT ${FIELDS} FROM git_connections WHERE id = $1 AND user_id = $2`,
};

/** Null when the user has no such connection. */
export async function findGitConnection(
  db: Queryable,
  userId: string,
  id: string,
): Promise<GitConnectionRecord | null> {
  const [found] = await db.query<GitConnectionRecord>(FIND, [id, userId]);
  return found ?? null;
}

const CHAT_TOKEN: Statement = {
  name: "git-connections.chat-token",
  text: `
    SELECT g.id, g.login, g.kind, g.token FROM chats c
    LEFT JOIN git_connections g ON g.user_id = c.owner_id AND g.host = $3
    WHERE c.id = $1 AND c.workspace_id = $2`,
};

export type ChatToken =
  /** There is no such chat, or it uses another workspace. */
  | { kind: "no-chat" }
  | { kind: "not-connected" }
  | { kind: "connected"; id: string; login: string | null; hostKind: GitHostKind | null; sealed: string };

/** The token that the owner of a chat in that workspace has for a host; still sealed. */
export async function findChatToken(
  db: Queryable,
  which: { chatId: string; workspaceId: string; host: string },
): Promise<ChatToken> {
  type Row = Pick<GitConnectionEntity, "id" | "login" | "kind" | "token"> | { id: null };
  const [row] = await db.query<Row>(CHAT_TOKEN, [which.chatId, which.workspaceId, which.host]);
  if (row === undefined) return { kind: "no-chat" };
  if (row.id === null) return { kind: "not-connected" };
  return { kind: "connected", id: row.id, login: row.login, hostKind: row.kind, sealed: row.token };
}

export function openGitToken(box: SecretBox, { id, sealed }: { id: string; sealed: string }): OpenedSecret {
  return box.open(sealed, columnReference("git_connections", "token", id));
}

/** A user's token for a host; still sealed. `kind`: the software of the host; null until it was asked. */
export type GitToken = Pick<GitConnectionEntity, "id" | "host" | "kind"> & { sealed: string };

const TOKEN_FIELDS = `${selectionOf(GitConnectionEntity, "g", ["id", "host", "kind"]).columns}, g.token AS sealed`;

// Index: git_connections_host_key.
const FIND_TOKEN: Statement = {
  name: "git-connections.find-token",
  text: `SELECT ${TOKEN_FIELDS} FROM git_connections g WHERE g.user_id = $1 AND g.host = $2`,
};

/** Null when the user has not connected the host. */
export async function findGitToken(db: Queryable, userId: string, host: string): Promise<GitToken | null> {
  const [found] = await db.query<GitToken>(FIND_TOKEN, [userId, host]);
  return found ?? null;
}

const SET_KIND: Statement = {
  name: "git-connections.set-kind",
  text: "UPDATE git_connections SET kind = $2 WHERE id = $1",
};

export async function rememberGitHostKind(db: Queryable, id: string, kind: GitHostKind): Promise<void> {
  await db.query(SET_KIND, [id, kind]);
}

// Index: git_connections_ask_idx. Rows that another replica is claiming are skipped.
const CLAIM_UNASKED: Statement = {
  name: "git-connections.claim-unasked",
  text: `
    WITH due AS (
      SELECT a.id FROM git_connections a JOIN users u ON u.id = a.user_id
      WHERE a.ask_at <= now() AND u.deactivated_at IS NULL
      ORDER BY a.ask_at LIMIT $1 FOR NO KEY UPDATE OF a SKIP LOCKED)
    UPDATE git_connections g SET ask_at = now() + interval '1 hour' FROM due WHERE g.id = due.id
    RETURNING ${TOKEN_FIELDS}`,
};

/** Connections of active users whose host has not named the token's account yet; each at most once an hour. */
export async function claimUnaskedConnections(db: Queryable, limit: number): Promise<GitToken[]> {
  return db.query<GitToken>(CLAIM_UNASKED, [limit]);
}

const SET_LOGIN: Statement = {
  name: "git-connections.set-login",
  text: "UPDATE git_connections SET login = $2, ask_at = NULL WHERE id = $1",
};

export async function rememberLogin(db: Queryable, id: string, login: string): Promise<void> {
  await db.query(SET_LOGIN, [id, login]);
}

const STOP_ASKING: Statement = {
  name: "git-connections.stop-asking",
  text: "UPDATE git_connections SET ask_at = NULL WHERE id = $1",
};

/** Its host does not name the token's account. */
export async function stopAsking(db: Queryable, id: string): Promise<void> {
  await db.query(STOP_ASKING, [id]);
}
