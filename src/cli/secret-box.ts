/** The keys for secrets at rest: configured, or made once in the data folder for the embedded database. */
import { randomBytes } from "node:crypto";
import { link, mkdir, open, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { parseSecretKeys } from "../config-variable.js";
import type { Config } from "../config.js";
import type { Log } from "../lib/log.js";
import { SECRET_KEY_BYTES, SecretBox, type SecretKey } from "../store/secret-box.js";

const KEY_FILE = "secrets.key";
const KEY_ID_BYTES = 4;
const OWNER_ONLY = 0o600;
const OTHERS = 0o077;

/**
 * Null with a database of one's own and no `PARLEY_SECRETS_KEYS`: a key that only this machine had would leave other
 * servers with secrets that they cannot read. Rejects when the key file cannot be made or used.
 */
export async function openSecretBox(
  { secretsKeys, databaseUrl, dataDir }: Pick<Config, "secretsKeys" | "databaseUrl" | "dataDir">,
  log: Log,
): Promise<SecretBox | null> {
  if (databaseUrl !== undefined) return secretsKeys ? new SecretBox(secretsKeys) : null;
  const file = join(dataDir, KEY_FILE);
  if (secretsKeys === undefined) await makeKeyFile(file);
  // What it sealed before keys were configured stays readable.
  const kept = await readKeyFile(file, log);
  const configured = secretsKeys ?? [];
  const ids = new Set(configured.map(({ id }) => id));
  return new SecretBox([...configured, ...kept.filter(({ id }) => !ids.has(id))]);
}

/** Servers that start together end up with the same key: the file appears at once and whole, or was there before. */
async function makeKeyFile(file: string): Promise<void> {
  if ((await read(file)) !== null) return;
  const id = `local-${randomBytes(KEY_ID_BYTES).toString("hex")}`;
  const draft = `${file}.${id}`;
  await mkdir(join(file, ".."), { recursive: true });
  const handle = await open(draft, "wx", OWNER_ONLY);
  try {
    await handle.writeFile(`${id}:${randomBytes(SECRET_KEY_BYTES).toString("base64")}\n`);
    await handle.sync();
    await link(draft, file);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  } finally {
    await handle.close();
    await rm(draft, { force: true });
  }
}

async function readKeyFile(file: string, log: Log): Promise<SecretKey[]> {
  const text = await read(file);
  if (text === null) return [];
  const keys = parseSecretKeys(text.trim());
  if (keys === undefined)
    throw new Error(`${file} does not hold a key; put back what was there, or remove it.`);
  const { mode } = await stat(file);
  if ((mode & OTHERS) !== 0)
    log.warn({ file }, "Others on this machine can read the key of Parley's secrets");
  return keys;
}

/** Null when there is none. */
async function read(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
