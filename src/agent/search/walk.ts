/** Walk of all files below a folder, in the order of their paths, without ignored files, `.git` and links. */
import { readdirSync, type Dirent } from "node:fs";
import { join } from "node:path";
import { enterFolder, rulesOfParents, type SearchScope } from "./ignore-files.js";
import type { IgnoreRules } from "./ignore-rules.js";

type Entry = { name: string; isFolder: boolean };
type OpenFolder = { path: string; prefix: string; rules: IgnoreRules; entries: Iterator<Entry> };

/** Blocks while it reads: use it in a thread. */
export class Walk {
  /** Folders that could not be read. */
  unreadable = 0;
  /** Stopped by `isOver` before the end. */
  wasStopped = false;

  /** `isOver` is called once for each folder and each file. */
  constructor(
    private readonly scope: SearchScope,
    private readonly isOver: () => boolean,
  ) {}

  /** Paths relative to the scope's folder, ascending. */
  *files(): Generator<string> {
    const { folder, onlyFile } = this.scope;
    if (onlyFile !== undefined) return yield onlyFile;
    const open = [this.#open(folder, "", rulesOfParents(this.scope))];
    for (let here = open.at(-1); here !== undefined; here = open.at(-1)) {
      if (this.isOver()) {
        this.wasStopped = true;
        return;
      }
      const next = here.entries.next();
      if (next.done) open.pop();
      else if (next.value.isFolder) {
        const path = join(here.path, next.value.name);
        open.push(this.#open(path, `${here.prefix}${next.value.name}/`, here.rules.within(path)));
      } else yield here.prefix + next.value.name;
    }
  }

  #open(path: string, prefix: string, outer: IgnoreRules): OpenFolder {
    let found: Dirent[];
    try {
      found = readdirSync(path, { withFileTypes: true });
    } catch {
      this.unreadable += 1;
      found = [];
    }
    const isRepository = found.some(({ name }) => name === ".git");
    const rules = this.scope.usesIgnoreFiles ? enterFolder(outer, path, isRepository) : outer;
    const entries = found
      .filter((entry) => entry.name !== ".git" && (entry.isDirectory() || entry.isFile()))
      .map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }))
      .filter(({ name }) => !(this.scope.hidden?.includes(join(path, name)) ?? false))
      .filter(({ name, isFolder }) => !rules.excludes(join(path, name), isFolder))
      .sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
    return { path, prefix, rules, entries: entries.values() };
  }
}

/** With its slash a folder comes where its files' paths belong: `a.txt` before `a/b`. */
function sortKey({ name, isFolder }: Entry): string {
  return isFolder ? `${name}/` : name;
}
