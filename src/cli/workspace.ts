/** `parley workspace`: manages external workspaces, for operators with access to the machine. */
import { parseArgs } from "node:util";
import { type AuditAction, OPERATOR } from "../domain/users/audit.js";
import { createLog } from "../lib/log.js";
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
import { readConfigOrExplain } from "./read-config.js";

const USAGE = `Usage: parley workspace add --name NAME [--owner USER]
       parley workspace token --name NAME [--owner USER]
       parley workspace remove --name NAME [--owner USER]
       parley workspace list

External workspaces are on machines that the server cannot reach: their agent connects to the server.

  add     creates one and prints its agent's token, once; only a hash of it is stored
  token   prints a new token; the old one becomes invalid, and its agent is disconnected
  remove  deletes it; its chats stay
  list    shows all of them, with their ids and whether their agents are connected

  --owner  the workspace's owner (default: the first admin)

Start the agent where the code is:

  PARLEY_AGENT_TOKEN=… parley agent --server wss://parley.example --directory /path/to/code
`;

/** Fits into a line of `list`. */
const MAX_NAME_CHARACTERS = 100;

type WorkspaceName = { ownerId: string; name: string };
type Output = { text: string; exitCode: number };

/** Each runs in a transaction with its audit entry. */
const VERBS: Record<string, (transaction: Queryable, workspace: WorkspaceName) => Promise<Output>> = {
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

/** Resolves to the exit code. Only tokens and lists go to standard output, messages to standard error. */
export async function runWorkspace([verb = "", ...argv]: string[]): Promise<number> {
  const { values } = parseArgs({
    args: argv,
    options: {
      name: { type: "string" },
      owner: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help || verb === "--help" || verb === "-h") return print({ text: USAGE, exitCode: 0 });
  const change = VERBS[verb];
  if (!change && verb !== "list") return print({ text: USAGE, exitCode: 2 });
  const name = values.name?.trim() ?? "";
  if (change && (name === "" || name.length > MAX_NAME_CHARACTERS)) {
    return print({ text: `--name takes 1 to ${MAX_NAME_CHARACTERS} characters.\n`, exitCode: 2 });
  }
  const config = readConfigOrExplain();
  if (!config) return 2;
  const { database, close } = await openDatabase(config, createLog(config.logLevel));
  try {
    if (!change) return print(await list(database));
    const owner = await findOwner(database, values.owner);
    if (owner === null) return print(failed("There is no such user; `parley token --create` creates one."));
    // Printed after the commit, when the token is valid.
    return print(
      await database.transaction((transaction) => change(transaction, { ownerId: owner.id, name })),
    );
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
