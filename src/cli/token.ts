/** `parley token`: creates an API token for a user, for operators with access to the machine but without a token. */
import { auditChanges, OPERATOR } from "../domain/users/audit.js";
import { encodeId } from "../domain/common/ids.js";
import { USER_ROLES, type TokenScope, type UserRole } from "../domain/users/viewer.js";
import { recordAudit } from "../store/users/audit-log.js";
import type { Queryable } from "../store/common/database.js";
import { createToken } from "../store/users/tokens.js";
import { createUser, findUserByUsername } from "../store/users/users.js";
import { openDatabase } from "../compose/open-database.js";
import type { ConfigSources } from "../config/config.js";
import { openLog } from "./open-log.js";
import { readConfigOrExplain } from "./read-config.js";
import { readExpiry, readScopes } from "./token-options.js";

/** Options of the command line, as texts. */
export type TokenFlags = {
  user: string;
  name: string;
  scopes: string;
  expires?: string;
  days?: string;
  create?: string;
};

type TokenOptions = {
  username: string;
  name: string;
  role: UserRole | undefined;
  scopes: TokenScope[];
  expiresAt: number | undefined;
};

/** Resolves to the exit code. */
export async function runToken(values: TokenFlags, sources: ConfigSources): Promise<number> {
  const role = USER_ROLES.find((known) => known === values.create);
  if (values.create !== undefined && !role) return refuse("--create takes member or admin.");
  const scopes = readScopes(values.scopes);
  if (scopes === null) return refuse("--scopes takes some of read, chat and admin, separated by commas.");
  if (values.days !== undefined && values.expires !== undefined)
    return refuse("Give either --days or --expires, not both.");
  const expiry = values.days === undefined ? values.expires : `${values.days}d`;
  const expiresAt = expiry === undefined ? undefined : readExpiry(expiry, Date.now());
  if (expiresAt === null)
    return refuse("--expires takes a date or a time in the future, or days such as 30d.");
  return commitToken({ username: values.user, name: values.name, role, scopes, expiresAt }, sources);
}

/** Prints the token after the commit, when it is valid. */
async function commitToken(options: TokenOptions, sources: ConfigSources): Promise<number> {
  const config = readConfigOrExplain(sources);
  if (!config) return 2;
  const { database, close } = await openDatabase(config, await openLog(config));
  try {
    const created = await database.transaction((transaction) => insertToken(transaction, options));
    if ("problem" in created) return print(process.stderr, `${created.problem}\n`, 1);
    return print(process.stdout, `${created.token}\n`, 0);
  } finally {
    await close();
  }
}

/** With its audit entries. A problem when the user does not exist or is deactivated. */
async function insertToken(
  transaction: Queryable,
  { username, role, name, scopes, expiresAt }: TokenOptions,
): Promise<{ token: string } | { problem: string }> {
  const known = await findUserByUsername(transaction, username);
  const user = known ?? (role ? await createUser(transaction, { username, name: username, role }) : null);
  if (!user) return { problem: `There is no user ${JSON.stringify(username)}; see --create.` };
  if (!user.isActive) return { problem: `${username} is deactivated, so a token would be invalid.` };
  const target = { targetId: encodeId("user", user.id), targetName: username };
  if (!known) {
    const changes = auditChanges(null, { username, name: username, role });
    await recordAudit(transaction, OPERATOR, { action: "user_created", ...target, changes });
  }
  const expires = expiresAt === undefined ? {} : { expiresAt };
  const { token } = await createToken(transaction, { userId: user.id, name, scopes, ...expires });
  const until = expiresAt === undefined ? null : new Date(expiresAt).toISOString();
  const changes = auditChanges(null, { name, scopes, expiresAt: until });
  await recordAudit(transaction, OPERATOR, { action: "api_token_created", ...target, changes });
  return { token };
}

function refuse(message: string): number {
  return print(process.stderr, `${message}\n`, 2);
}

function print(stream: NodeJS.WriteStream, text: string, exitCode: number): number {
  stream.write(text);
  return exitCode;
}
