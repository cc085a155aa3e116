/** The keys of secrets at rest: configured, or generated once in the data folder for the embedded database. */
import { randomBytes } from "node:crypto";
import { link, mkdir, open, readFile, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseSecretKeys } from "../config/variable.js";
import type { Config } from "../config/config.js";
import { ExplainedError } from "../lib/text/explained-error.js";
import type { Log } from "../lib/log.js";
import type { KeyCount } from "../store/common/sealed-values.js";
import { SECRET_KEY_BYTES, SecretBox, type SecretKey } from "../store/common/secret-box.js";

const KEY_FILE = "secrets.key";
const KEY_ID_BYTES = 4;
const OWNER_ONLY = 0o600;
const OTHERS = 0o077;

type KeySettings = Pick<Config, "secretsKeys" | "databaseUrl" | "dataDir">;

/**
 * Throws when DATABASE_URL is set without PARLEY_SECRETS_KEYS: with a key generated on this machine other servers could
 * not read the secrets, and it would be lost with the machine.
 */
export function demandKeys({ secretsKeys, databaseUrl }: Pick<Config, "secretsKeys" | "databaseUrl">): void {
  if (databaseUrl === undefined || secretsKeys !== undefined) return;
  throw new Error(
    "DATABASE_URL is set and PARLEY_SECRETS_KEYS is not: the secrets in that database need a key. Create one with " +
      "`parley secrets new-key`, store it safely apart from the database's backups, and set " +
      "PARLEY_SECRETS_KEYS to it on every server.",
  );
}

/** `countKeys` counts the sealed values in the database by key. */
export type SecretBoxDependencies = { log: Log; countKeys(): Promise<KeyCount[]> };

/**
 * The box with this deployment's keys. Generates the embedded database's key when there is none and nothing is sealed
 * yet; rejects when there is none although something is, and when the key file cannot be used. Secrets with unknown
 * keys are logged, and fail wherever they are needed.
 */
export async function openSecretBox(
  config: KeySettings,
  { log, countKeys }: SecretBoxDependencies,
): Promise<SecretBox> {
  demandKeys(config);
  const counts = await countKeys();
  const file = join(config.dataDir, KEY_FILE);
  if (config.databaseUrl === undefined && config.secretsKeys === undefined && (await read(file)) === null) {
    if (counts.length > 0) throw new Error(lostKeyFile(file, counts));
    await generateKeyFile(file);
  }
  const box = new SecretBox(await readKeys(config, log));
  const unknown = counts.filter(({ keyId }) => keyId === null || !box.keyIds.includes(keyId));
  for (const { table, column, keyId, count } of unknown) {
    log.error(
      { table, column, keyId, count },
      "secrets cannot be read: their key is not in PARLEY_SECRETS_KEYS",
    );
  }
  return box;
}

/** Ids of the available keys; the first one seals. Generates none. */
export async function configuredKeyIds(config: KeySettings, log: Log): Promise<string[]> {
  return (await readKeys(config, log)).map(({ id }) => id);
}

async function readKeys({ secretsKeys, databaseUrl, dataDir }: KeySettings, log: Log): Promise<SecretKey[]> {
  const configured = secretsKeys ?? [];
  if (databaseUrl !== undefined) return configured;
  // Values sealed with the generated key before others were configured stay readable.
  const generated = await readKeyFile(join(dataDir, KEY_FILE), log);
  const ids = new Set(configured.map(({ id }) => id));
  return [...configured, ...generated.filter(({ id }) => !ids.has(id))];
}

function lostKeyFile(file: string, counts: readonly KeyCount[]): string {
  const ids = [...new Set(counts.map(({ keyId }) => keyId ?? "unknown"))].join(", ");
  const count = counts.reduce((sum, it) => sum + it.count, 0);
  return (
    `${file} is missing, and the database holds ${count} secrets that were encrypted with it (key ${ids}). Put the ` +
    `file back from a backup. If it is lost for good, create another with \`(umask 077; parley secrets new-key > ${file})\`: ` +
    "what was encrypted with the lost one must be entered again."
  );
}

/** Atomic: servers that start together use the same key, as the file is linked complete or exists already. */
async function generateKeyFile(file: string): Promise<void> {
  const id = `local-${randomBytes(KEY_ID_BYTES).toString("hex")}`;
  const draft = `${file}.${id}`;
  const handle = await mkdir(dirname(file), { recursive: true })
    .then(() => open(draft, "wx", OWNER_ONLY))
    .catch((error: unknown) => refuseFolder(file, error));
  try {
    await handle.writeFile(`${id}:${randomBytes(SECRET_KEY_BYTES).toString("base64")}\n`);
    await handle.sync();
    await link(draft, file);
    await syncFolder(dirname(file));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  } finally {
    await handle.close();
    await rm(draft, { force: true });
  }
}

/** Makes the key as durable as the values sealed with it. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function readKeyFile(file: string, log: Log): Promise<SecretKey[]> {
  const text = await read(file);
  if (text === null) return [];
  const keys = parseSecretKeys(text.trim());
  if (keys === undefined)
    throw new Error(`${file} does not contain a key; restore its content, or remove it.`);
  const { mode } = await stat(file);
  if ((mode & OTHERS) !== 0)
    log.warn({ file }, "other users of this machine can read the key of Parley's secrets");
  return keys;
}

/** Null when there is none. */
async function read(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    return refuseFolder(file, error);
  }
}

function refuseFolder(file: string, error: unknown): never {
  const message = error instanceof Error ? error.message : String(error);
  throw new ExplainedError(`PARLEY_DATA_DIR cannot be used for ${file}: ${message}`, { cause: error });
}
