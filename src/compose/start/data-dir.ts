/** Creation of the data folder: private, and invisible to any git repository around it. */
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Config } from "../../config/config.js";
import { errorText } from "../../lib/text/error-text.js";
import { ExplainedError } from "../../lib/text/explained-error.js";

const PRIVATE = 0o700;
/** Root's database runs as another account, which must be able to pass through a folder that was chosen for it. */
const PASSABLE = 0o711;
const IGNORE_ALL = "# Parley's data: not for a repository.\n*\n";
/** What shows that a folder holds Parley's data, and nothing of the user's. */
const OWN_NAMES = ["postgres", "secrets.key", "workspaces", "server.json"];

type Folder = Pick<Config, "dataDir" | "isDataDirChosen">;

/**
 * Creates the data folder unless it exists. Rejects with an `ExplainedError` when that is impossible. An existing folder
 * keeps its mode: its database may belong to an account that has to enter it.
 */
export async function openDataDir({ dataDir, isDataDirChosen }: Folder): Promise<void> {
  try {
    await mkdir(dirname(dataDir), { recursive: true });
    const isRootsChoice = isDataDirChosen && process.getuid?.() === 0;
    await mkdir(dataDir, { mode: isRootsChoice ? PASSABLE : PRIVATE }).catch((error: unknown) => {
      if (!hasCode(error, "EEXIST")) throw error;
    });
    await ignoreAll(dataDir);
  } catch (error) {
    throw new ExplainedError(`PARLEY_DATA_DIR (${dataDir}) cannot be used: ${errorText(error)}`, {
      cause: error,
    });
  }
}

/** `git add -A` of a repository around the folder stages none of it. A folder with other content stays as it is. */
async function ignoreAll(dataDir: string): Promise<void> {
  const file = join(dataDir, ".gitignore");
  const names = await readdir(dataDir);
  const isOurs = names.length === 0 || names.some((name) => OWN_NAMES.includes(name));
  if (!isOurs || names.includes(".git") || names.includes(".gitignore")) return;
  await writeFile(file, IGNORE_ALL, { flag: "wx" }).catch((error: unknown) => {
    // Another server was faster, or an old folder belongs to another account.
    if (!["EEXIST", "EACCES", "EROFS"].some((code) => hasCode(error, code))) throw error;
  });
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
