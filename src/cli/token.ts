/** `parley token`: makes an API token for a person, for operators who have the machine but no token. */
import { parseArgs } from "node:util";
import { USER_ROLES } from "../domain/viewer.js";
import { createLog } from "../lib/log.js";
import { createToken } from "../store/tokens.js";
import { createUser, findUserByUsername } from "../store/users.js";
import { openDatabase } from "./open-database.js";
import { readConfigOrExplain } from "./serve.js";

const USAGE = `Usage: parley token [--user NAME] [--name LABEL] [--days N] [--create member|admin]

Makes an API token and prints it on standard output; it is stored only as a hash.

  --user    whose token (default: admin)
  --name    what the token is for (default: "parley token")
  --days    days until it expires (default: never)
  --create  make the person, with this role, when there is none of that name
`;

const DAY_MS = 86_400_000;

/** Resolves to the exit code. */
export async function runToken(argv: string[]): Promise<number> {
  const { values } = parseArgs({
    args: argv,
    options: {
      user: { type: "string", default: "admin" },
      name: { type: "string", default: "parley token" },
      days: { type: "string" },
      create: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) return say(process.stdout, USAGE, 0);
  const role = USER_ROLES.find((known) => known === values.create);
  if (values.create !== undefined && !role)
    return say(process.stderr, "--create takes member or admin.\n", 2);
  const days = values.days === undefined ? null : Number(values.days);
  if (days !== null && !(Number.isInteger(days) && days > 0 && days <= 36_500)) {
    return say(process.stderr, "--days takes a whole number from 1 to 36500.\n", 2);
  }
  const config = readConfigOrExplain();
  if (!config) return 2;
  const { database, close } = await openDatabase(config, createLog(config.logLevel));
  try {
    const username = values.user;
    const user =
      (await findUserByUsername(database, username)) ??
      (role ? await createUser(database, { username, name: username, role }) : null);
    if (!user) return say(process.stderr, `There is no user ${JSON.stringify(username)}; see --create.\n`, 1);
    const expiresAt = days === null ? {} : { expiresAt: Date.now() + days * DAY_MS };
    const { token } = await createToken(database, { userId: user.id, name: values.name, ...expiresAt });
    return say(process.stdout, `${token}\n`, 0);
  } finally {
    await close();
  }
}

function say(stream: NodeJS.WriteStream, text: string, exitCode: number): number {
  stream.write(text);
  return exitCode;
}
