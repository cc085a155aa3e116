/** People's connections to git hosts. Tokens are sealed here; who needs one asks for it by name. */
import { randomUUID } from "node:crypto";
import type { GitHostKind } from "../../domain/git/git-hosts.js";
import type { Queryable, Statement } from "../common/database.js";
import type { OpenedSecret, SecretBox } from "../common/secret-box.js";
import { secretPlace } from "../common/secret-columns.js";

/** More hosts than anybody has; beyond it something is making them. */
export const MAX_GIT_CONNECTIONS = 50;

/** Without the token. `login`: who the token is at the host; null until the host was asked. */
export type GitConnectionRecord = {
  id: string;
  userId: string;
  host: string;
  login: string | null;
  connectedAt: Date;
};

const FIELDS = `id, user_id AS "userId", host, login, connected_at AS "connectedAt"`;

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

/** Takes the place of an earlier connection to the same host. Null when the person has `MAX_GIT_CONNECTIONS` others. */
export async function connectGitHost(
  db: Queryable,
  box: SecretBox,
  wanted: { userId: string; host: string; token: string },
): Promise<GitConnectionRecord | null> {
  const id = randomUUID();
  const sealed = box.seal(wanted.token, secretPlace("git_connections", "token", id));
  const values = [id, wanted.userId, wanted.host, sealed, MAX_GIT_CONNECTIONS];
  const [made] = await db.query<GitConnectionRecord>(CONNECT, values);
  return made ?? null;
}

const DISCONNECT: Statement = {
  name: "git-connections.disconnect",
  text: "DELETE FROM git_connections WHERE id = $1 AND user_id = $2 RETURNING id",
};

/** False when the person has no such connection. */
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

/** Null when the person has no such connection. */
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
  /** There is no such chat, or it works elsewhere. */
  | { kind: "no-chat" }
  | { kind: "not-connected" }
  | { kind: "connected"; id: string; login: string | null; hostKind: GitHostKind | null; sealed: string };

/** What the owner of a chat in that workspace has for a host; still sealed. */
export async function findChatToken(
  db: Queryable,
  which: { chatId: string; workspaceId: string; host: string },
): Promise<ChatToken> {
  type Row = { id: string; login: string | null; kind: GitHostKind | null; token: string } | { id: null };
  const [row] = await db.query<Row>(CHAT_TOKEN, [which.chatId, which.workspaceId, which.host]);
  if (row === undefined) return { kind: "no-chat" };
  if (row.id === null) return { kind: "not-connected" };
  return { kind: "connected", id: row.id, login: row.login, hostKind: row.kind, sealed: row.token };
}

export function openGitToken(box: SecretBox, { id, sealed }: { id: string; sealed: string }): OpenedSecret {
  return box.open(sealed, secretPlace("git_connections", "token", id));
}

/** What a person has for a host; still sealed. `kind`: what software the host runs; null until it was asked. */
export type GitToken = { id: string; host: string; kind: GitHostKind | null; sealed: string };

const TOKEN_FIELDS = "g.id, g.host, g.kind, g.token AS sealed";

// Index: git_connections_host_key.
const FIND_TOKEN: Statement = {
  name: "git-connections.find-token",
  text: `SELECT ${TOKEN_FIELDS} FROM git_connections g WHERE g.user_id = $1 AND g.host = $2`,
};

/** Null when the person has not connected the host. */
export async function findGitToken(db: Queryable, userId: string, host: string): Promise<GitToken | null> {
  const [found] = await db.query<GitToken>(FIND_TOKEN, [userId, host]);
  return found ?? null;
}

const REMEMBER_KIND: Statement = {
  name: "git-connections.remember-kind",
  text: "UPDATE git_connections SET kind = $2 WHERE id = $1",
};

export async function rememberGitHostKind(db: Queryable, id: string, kind: GitHostKind): Promise<void> {
  await db.query(REMEMBER_KIND, [id, kind]);
}

// Index: git_connections_ask_idx. What another replica is claiming is passed over.
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

/** Of active people, those whose host has not said yet who the token is; each is given once an hour, until it has. */
export async function claimUnaskedConnections(db: Queryable, limit: number): Promise<GitToken[]> {
  return db.query<GitToken>(CLAIM_UNASKED, [limit]);
}

const REMEMBER_LOGIN: Statement = {
  name: "git-connections.remember-login",
  text: "UPDATE git_connections SET login = $2, ask_at = NULL WHERE id = $1",
};

export async function rememberLogin(db: Queryable, id: string, login: string): Promise<void> {
  await db.query(REMEMBER_LOGIN, [id, login]);
}

const STOP_ASKING: Statement = {
  name: "git-connections.stop-asking",
  text: "UPDATE git_connections SET ask_at = NULL WHERE id = $1",
};

/** Its host will not say who the token is. */
export async function stopAsking(db: Queryable, id: string): Promise<void> {
  await db.query(STOP_ASKING, [id]);
}
