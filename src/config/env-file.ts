// Which file of settings is read beside the environment. Never one of the working directory, which may be a repository
// that another person wrote: its settings could send the keys of model providers anywhere.
import { isAbsolute, join, relative, resolve, sep } from "node:path";

/** What decides; `dataDir` is `PARLEY_DATA_DIR` of the environment, absent when it is not set there. */
export type EnvFileQuestion = {
  named?: string | undefined;
  dataDir?: string | undefined;
  defaultDataDir: string;
  cwd: string;
};

/**
 * `path`: the file to read, absolute; null = none. `isRequired`: it was named. `ignored`: a file of the working
 * directory that is not read, to be said if it is there; null = it is read, because it was named.
 */
export type EnvFileChoice = { path: string | null; isRequired: boolean; ignored: string | null };

/**
 * The named file; else `.env` in the data folder, unless that is a folder of the working directory which was not named:
 * then it may have come with the repository, too.
 */
export function chooseEnvFile({ named, dataDir, defaultDataDir, cwd }: EnvFileQuestion): EnvFileChoice {
  const inCwd = join(cwd, ".env");
  if (named !== undefined) {
    const path = resolve(cwd, named);
    return { path, isRequired: true, ignored: path === inCwd ? null : inCwd };
  }
  const folder = resolve(cwd, dataDir ?? defaultDataDir);
  const isTrusted = dataDir !== undefined || !isWithin(cwd, folder);
  // A data folder that is the working directory itself does not make its `.env` ours.
  const path = isTrusted && folder !== cwd ? join(folder, ".env") : null;
  return { path, isRequired: false, ignored: inCwd };
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
