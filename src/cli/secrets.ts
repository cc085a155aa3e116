/** `parley secrets`: manages the keys of secrets at rest, for operators with access to the machine. */
import { randomBytes } from "node:crypto";
import type { Config, ConfigSources } from "../config/config.js";
import { OPERATOR } from "../domain/users/audit.js";
import { systemClock } from "../lib/clock.js";
import { errorText } from "../lib/text/error-text.js";
import {
  countKeys,
  type KeyCount,
  type Rotation,
  rotateSecrets,
  type UnreadableValue,
} from "../store/common/sealed-values.js";
import { SECRET_KEY_BYTES } from "../store/common/secret-box.js";
import { openDatabase } from "../compose/open-database.js";
import { configuredKeyIds, demandKeys, openSecretBox } from "../compose/secret-box.js";
import { openLog } from "./open-log.js";
import { readConfigOrExplain } from "./read-config.js";

/** More unreadable values mean a lost key. */
const MAX_SHOWN_UNREADABLE = 20;
const KEY_ID_BYTES = 3;

/** Returns the exit code. */
export function printNewKey(): number {
  return print(process.stdout, `${newKey()}\n`, 0);
}

/** Resolves to the exit code. Results go to standard output, everything else to standard error. */
export async function runStatus(sources: ConfigSources): Promise<number> {
  const config = readConfigOrExplain(sources);
  return config ? showStatus(config) : 2;
}

/** As {@link runStatus}. */
export async function runRotate(sources: ConfigSources): Promise<number> {
  const config = readConfigOrExplain(sources);
  if (!config) return 2;
  try {
    demandKeys(config);
  } catch (error) {
    return print(process.stderr, `${errorText(error)}\n`, 2);
  }
  return rotate(config);
}

/** The id starts with the date, so that keys can be ordered by age. */
function newKey(): string {
  const day = new Date(systemClock.now()).toISOString().slice(0, 10).replaceAll("-", "");
  const id = `${day}-${randomBytes(KEY_ID_BYTES).toString("hex")}`;
  return `${id}:${randomBytes(SECRET_KEY_BYTES).toString("base64")}`;
}

async function showStatus(config: Config): Promise<number> {
  const log = await openLog(config);
  const { database, close } = await openDatabase(config, log);
  try {
    const known = await configuredKeyIds(config, log);
    const rows = (await countKeys(database)).map((count) => [
      ...cellsOf(count),
      meaningOf(count.keyId, known),
    ]);
    if (rows.length === 0) return print(process.stdout, "There are no secrets in the database.\n", 0);
    return print(process.stdout, table([["column", "key", "secrets", ""], ...rows]), 0);
  } finally {
    await close();
  }
}

function cellsOf({ table: name, column, keyId, count }: KeyCount): string[] {
  return [`${name}.${column}`, keyId ?? "-", String(count)];
}

function meaningOf(keyId: string | null, known: readonly string[]): string {
  if (keyId === null) return "not a sealed value";
  if (known[0] === keyId) return "encrypts";
  return known.includes(keyId) ? "decrypts; rotate before you remove it" : "NOT CONFIGURED: cannot be read";
}

async function rotate(config: Config): Promise<number> {
  const log = await openLog(config);
  const { database, close } = await openDatabase(config, log);
  try {
    const box = await openSecretBox(config, { log, countKeys: () => countKeys(database) });
    const rotation = await rotateSecrets(database, box, OPERATOR);
    return reportRotation(rotation);
  } finally {
    await close();
  }
}

function reportRotation({ columns, unreadable, isDone }: Rotation): number {
  const rows = columns.map((it) => [
    `${it.table}.${it.column}`,
    ...[it.rewrapped, it.current, it.unreadable].map(String),
  ]);
  process.stdout.write(table([["column", "rewrapped", "current", "unreadable"], ...rows]));
  for (const value of unreadable.slice(0, MAX_SHOWN_UNREADABLE))
    process.stderr.write(`${unreadableText(value)}\n`);
  const hidden = unreadable.length - MAX_SHOWN_UNREADABLE;
  if (hidden > 0) process.stderr.write(`… and ${hidden} more that cannot be read.\n`);
  if (!isDone) {
    process.stderr.write(
      "A server still encrypts with another key: put the new key first on every server, then rotate again.\n",
    );
  }
  return unreadable.length > 0 || !isDone ? 1 : 0;
}

function unreadableText({ table: name, column, rowId, failure }: UnreadableValue): string {
  const why =
    failure.kind === "unknown-key"
      ? `it was encrypted with the key ${failure.keyId}, which is not configured`
      : "it was changed, or its key has other bytes than the configured one of that id";
  return `${name}.${column} of the row ${rowId} cannot be read: ${why}.`;
}

/** Columns of equal width. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return `${lines.join("\n")}\n`;
}

function print(stream: NodeJS.WriteStream, text: string, exitCode: number): number {
  stream.write(text);
  return exitCode;
}
