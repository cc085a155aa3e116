/** `parley workspace`: external workspaces, whose agents call the server, for operators who have the machine. */
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
import { readConfigOrExplain } from "./serve.js";

const USAGE = `Usage: parley workspace add --name NAME [--owner USER]
       parley workspace token --name NAME [--owner USER]
       parley workspace remove --name NAME [--owner USER]
       parley workspace list

External workspaces are on machines that the server cannot reach: the agent there calls the server.

  add     makes one and prints the token of its agent, once; only a hash of it is stored
  token   prints a new token; the old one opens nothing any more, and its agent has to go
  remove  takes it away; its chats stay
  list    shows all of them, with their ids and whether their agents are connected

  --owner  whose workspace (default: the first admin)

Start the agent where the code is:

  PARLEY_AGENT_TOKEN=… parley agent --server wss://parley.example --directory /path/to/code
`;

/** Longer ones would not fit on a line. */
const MAX_NAME_CHARACTERS = 100;

type Wanted = { ownerId: string; name: string };
type Saying = { text: string; exitCode: number };

/** Each in a transaction of its own, with its line in the audit log. */
const VERBS: Record<string, (transaction: Queryable, wanted: Wanted) => Promise<Saying>> = {
  add: async (transaction, { ownerId, name }) => {
    const token = createAgentToken();
    const tokenHash = hashAgentToken(token);
    const id = await createExternalWorkspace(transaction, { ownerId, name, tokenHash });
    if (id === null) return failed(`There is an external workspace ${JSON.stringify(name)} already.`);
    await record(transaction, "workspace_created", { id, name });
    process.stderr.write(`Workspace ${encodeId("ws", id)}. The token of its agent, printed only now:\n`);
    return { text: `${token}\n`, exitCode: 0 };
  },
  token: async (transaction, wanted) => {
    const token = createAgentToken();
    const id = await replaceAgentToken(transaction, wanted, hashAgentToken(token));
    if (id === null) return unknown(wanted.name);
    await record(transaction, "workspace_token_replaced", { id, name: wanted.name });
    return { text: `${token}\n`, exitCode: 0 };
  },
  remove: async (transaction, wanted) => {
    const id = await removeExternalWorkspace(transaction, wanted);
    if (id === null) return unknown(wanted.name);
    await record(transaction, "workspace_removed", { id, name: wanted.name });
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

/** Resolves to the exit code. Tokens go to standard output alone, words to standard error. */
export async function runWorkspace([verb = "", ...argv]: string[]): Promise<number> {
  const { values } = parseArgs({
    args: argv,
    options: {
      name: { type: "string" },
      owner: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help || verb === "--help" || verb === "-h") return say({ text: USAGE, exitCode: 0 });
  const change = VERBS[verb];
  if (!change && verb !== "list") return say({ text: USAGE, exitCode: 2 });
  const name = values.name?.trim() ?? "";
  if (change && (name === "" || name.length > MAX_NAME_CHARACTERS)) {
    return say({ text: `--name takes 1 to ${MAX_NAME_CHARACTERS} characters.\n`, exitCode: 2 });
  }
  const config = readConfigOrExplain();
  if (!config) return 2;
  const { database, close } = await openDatabase(config, createLog(config.logLevel));
  try {
    if (!change) return say(await list(database));
    const owner = await findOwner(database, values.owner);
    if (owner === null) return say(failed("There is no such user; `parley token --create` makes one."));
    // The token is said after the commit: before it, it would open nothing.
    return say(await database.transaction((transaction) => change(transaction, { ownerId: owner.id, name })));
  } finally {
    await close();
  }
}

function findOwner(database: Database, username: string | undefined) {
  return username === undefined ? findOldestAdmin(database) : findUserByUsername(database, username);
}

async function list(database: Database): Promise<Saying> {
  const lines = (await listExternalWorkspaces(database)).map(
    ({ id, name, owner, status }) => `${encodeId("ws", id)}\t${status}\t${owner}\t${name}\n`,
  );
  return { text: lines.join(""), exitCode: 0 };
}

function unknown(name: string): Saying {
  return failed(`There is no external workspace ${JSON.stringify(name)} of this owner.`);
}

function failed(text: string): Saying {
  return { text: `${text}\n`, exitCode: 1 };
}

function say({ text, exitCode }: Saying): number {
  (exitCode === 0 ? process.stdout : process.stderr).write(text);
  return exitCode;
}
