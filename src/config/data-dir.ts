// Where a server keeps its data unless PARLEY_DATA_DIR says so: the user's folder for programs' state, or the `.parley` of
// the working directory where earlier versions put it.
import { readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** In words, for messages and the documentation. */
export const DEFAULT_DATA_DIR_TEXT =
  "`$XDG_STATE_HOME/parley`, else `~/.local/state/parley`; on macOS `~/Library/Application Support/parley`; an existing `./.parley` is still used";

type Surroundings = {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  platform?: NodeJS.Platform;
  /** Whether a folder was made by an earlier version of Parley on this machine. */
  isOldDataDir?: (path: string) => boolean;
};

/** Absolute. */
export function defaultDataDir({
  env,
  cwd,
  platform = process.platform,
  isOldDataDir = containsEmbeddedDatabase,
}: Surroundings): string {
  const old = join(cwd, ".parley");
  if (isOldDataDir(old)) return old;
  const home = env["HOME"] || homedir();
  if (platform === "darwin") return join(home, "Library/Application Support/parley");
  const state = env["XDG_STATE_HOME"] ?? "";
  // Relative ones are to be ignored, says the XDG Base Directory Specification.
  return join(isAbsolute(state) ? state : join(home, ".local/state"), "parley");
}

const OTHERS = 0o027;
/** Folders of every PostgreSQL cluster that are empty while Parley uses it. */
const EMPTY_FOLDERS = ["pg_twophase", "pg_tblspc", "pg_commit_ts"];

/**
 * Whether the folder holds an embedded database that was made here. A checkout of a foreign repository must not pass for
 * one: it would bring its own users and tokens. Git stores no empty folders, which every cluster has, nor private ones.
 */
function containsEmbeddedDatabase(path: string): boolean {
  try {
    const cluster = join(path, "postgres");
    if ((statSync(cluster).mode & OTHERS) !== 0) return false;
    return EMPTY_FOLDERS.every((name) => readdirSync(join(cluster, name)).length === 0);
  } catch {
    return false; // Missing, unreadable, or no folder.
  }
}
