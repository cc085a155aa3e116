/** People's connections to git hosts. Tokens are sealed here; who needs one asks for it by name. */
import { randomUUID } from "node:crypto";
import type { Queryable, Statement } from "./database.js";
import type { OpenedSecret, SecretBox, SecretPlace } from "./secret-box.js";

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
      SET id = excluded.id, token = excluded.token, login = NULL, connected_at = now()
    RETURNING ${FIELDS}`,
};

/** Takes the place of an earlier connection to the same host. Null when the person has `MAX_GIT_CONNECTIONS` others. */
export async function connectGitHost(
  db: Queryable,
  box: SecretBox,
  wanted: { userId: string; host: string; token: string },
): Promise<GitConnectionRecord | null> {
  const id = randomUUID();
  const sealed = box.seal(wanted.token, tokenPlace(id));
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
    SELECT g.id, g.login, g.token FROM chats c
    LEFT JOIN git_connections g ON g.user_id = c.owner_id AND g.host = $3
    WHERE c.id = $1 AND c.workspace_id = $2`,
};

export type ChatToken =
  /** There is no such chat, or it works elsewhere. */
  | { kind: "no-chat" }
  | { kind: "not-connected" }
  | { kind: "connected"; id: string; login: string | null; sealed: string };

/** What the owner of a chat in that workspace has for a host; still sealed. */
export async function findChatToken(
  db: Queryable,
  which: { chatId: string; workspaceId: string; host: string },
): Promise<ChatToken> {
  type Row = { id: string; login: string | null; token: string } | { id: null };
  const [row] = await db.query<Row>(CHAT_TOKEN, [which.chatId, which.workspaceId, which.host]);
  if (row === undefined) return { kind: "no-chat" };
  if (row.id === null) return { kind: "not-connected" };
  return { kind: "connected", id: row.id, login: row.login, sealed: row.token };
}

export function openGitToken(box: SecretBox, { id, sealed }: { id: string; sealed: string }): OpenedSecret {
  return box.open(sealed, tokenPlace(id));
}

function tokenPlace(id: string): SecretPlace {
  return { table: "git_connections", column: "token", rowId: id };
}
