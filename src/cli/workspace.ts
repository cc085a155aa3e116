/** `parley workspace`: manages external workspaces, for operators with access to the machine. */
import { type AuditAction, OPERATOR } from "../domain/users/audit.js";
import { recordAudit } from "../store/users/audit-log.js";
import type { Database, Queryable } from "../store/common/database.js";
import {
  createAgentToken,
  createExternalWorkspace,
  listExternalWorkspaces,
  removeExternalWorkspace,
  replaceAgentToken,
} from "../store/workspaces/external-workspaces.js";
import { findOldestAdmin, findUserByUsername } from "../store/users/users.js";
import { hashAgentToken } from "../workspaces/tunnels/requests.js";
import { encodeId } from "../domain/common/ids.js";
import { openDatabase } from "../compose/open-database.js";
import type { ConfigSources } from "../config/config.js";
import { openLog } from "./open-log.js";
import { readConfigOrExplain } from "./read-config.js";

/** Fits into a line of `list`. */
const MAX_NAME_CHARACTERS = 100;

type WorkspaceName = { ownerId: string; name: string };
type Output = { text: string; exitCode: number };

export type WorkspaceVerb = "add" | "token" | "remove";

/** Each runs in a transaction with its audit entry. */
const VERBS: Record<WorkspaceVerb, (transaction: Queryable, workspace: WorkspaceName) => Promise<Output>> = {
  add: async (transaction, { ownerId, name }) => {
    const token = createAgentToken();
    const tokenHash = hashAgentToken(token);
    const id = await createExternalWorkspace(transaction, { ownerId, name, tokenHash });
    if (id === null) return failed(`There is an external workspace ${JSON.stringify(name)} already.`);
    await record(transaction, "workspace_created", { id, name });
    process.stderr.write(`Workspace ${encodeId("ws", id)}. The token of its agent, printed only once:\n`);
    return { text: `${token}\n`, exitCode: 0 };
  },
  token: async (transaction, workspace) => {
    const token = createAgentToken();
    const id = await replaceAgentToken(transaction, workspace, hashAgentToken(token));
    if (id === null) return unknown(workspace.name);
    await record(transaction, "workspace_token_replaced", { id, name: workspace.name });
    return { text: `${token}\n`, exitCode: 0 };
  },
  remove: async (transaction, workspace) => {
    const id = await removeExternalWorkspace(transaction, workspace);
    if (id === null) return unknown(workspace.name);
    await record(transaction, "workspace_removed", { id, name: workspace.name });
    return { text: "", exitCode: 0 };
  },
};

function record(
  transaction: Queryable,
  action: AuditAction,
  { id, name }: { id: string; name: string },
): Promise<void> {
  const target = { targetId: encodeId("ws", id), targetName: name };
  return recordAudit(transaction, OPERATOR, { action, ...target, changes: {} });
}

type Change = { verb: WorkspaceVerb; name: string; owner: string | undefined };

/** Resolves to the exit code. Only tokens and lists go to standard output, messages to standard error. */
export async function changeWorkspace(wanted: Change, sources: ConfigSources): Promise<number> {
  const name = wanted.name.trim();
  if (name === "" || name.length > MAX_NAME_CHARACTERS) {
    return print({ text: `--name takes 1 to ${MAX_NAME_CHARACTERS} characters.\n`, exitCode: 2 });
  }
  return withDatabase(sources, async (database) => {
    const owner = await findOwner(database, wanted.owner);
    if (owner === null) return failed("There is no such user; `parley token --create` creates one.");
    const ownerId = owner.id;
    return database.transaction((transaction) => VERBS[wanted.verb](transaction, { ownerId, name }));
  });
}

/** As {@link changeWorkspace}. */
export function listWorkspaces(sources: ConfigSources): Promise<number> {
  return withDatabase(sources, list);
}

/** Prints the output after the commit, when a token is valid. */
async function withDatabase(
  sources: ConfigSources,
  work: (database: Database) => Promise<Output>,
): Promise<number> {
  const config = readConfigOrExplain(sources);
  if (!config) return 2;
  const { database, close } = await openDatabase(config, await openLog(config));
  try {
    return print(await work(database));
  } finally {
    await close();
  }
}

function findOwner(database: Database, username: string | undefined) {
  return username === undefined ? findOldestAdmin(database) : findUserByUsername(database, username);
}

async function list(database: Database): Promise<Output> {
  const lines = (await listExternalWorkspaces(database)).map(
    ({ id, name, owner, status }) => `${encodeId("ws", id)}\t${status}\t${owner}\t${name}\n`,
  );
  return { text: lines.join(""), exitCode: 0 };
}

function unknown(name: string): Output {
  return failed(`There is no external workspace ${JSON.stringify(name)} of this owner.`);
}

function failed(text: string): Output {
  return { text: `${text}\n`, exitCode: 1 };
}

function print({ text, exitCode }: Output): number {
  (exitCode === 0 ? process.stdout : process.stderr).write(text);
  return exitCode;
}
