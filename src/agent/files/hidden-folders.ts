/** Folders of this machine that file tools do not show: the data folder of the server that started the agent. */
import { isAbsolute, relative, sep } from "node:path";
import { done, refused, type Outcome } from "../outcome.js";
import { absolutePath, resolveLinks } from "./paths.js";

export class HiddenFolders {
  /**
   * All absolute and free of links. `directory`, the agent's own, stays visible when it is in one of the folders: there
   * are the workspaces of LOCAL templates.
   */
  constructor(
    readonly folders: readonly string[],
    private readonly directory: string,
  ) {}

  /** The same for paths that may have links. */
  static async resolve(folders: readonly string[], directory: string): Promise<HiddenFolders> {
    const [ownFolder = directory, ...hidden] = await Promise.all([directory, ...folders].map(withoutLinks));
    return new HiddenFolders(hidden, ownFolder);
  }

  /** `path`: absolute and free of links. */
  hides(path: string): boolean {
    if (!this.folders.some((folder) => isWithin(path, folder))) return false;
    const isOwn = isWithin(path, this.directory) && this.folders.some((it) => isWithin(this.directory, it));
    return !isOwn;
  }

  /** Refused, as something that does not exist, when `path` leads into a hidden folder. */
  async check(path: string): Promise<Outcome<undefined>> {
    if (this.folders.length === 0) return done(undefined);
    const absolute = absolutePath(this.directory, path);
    const resolved = await resolveLinks(absolute);
    if (resolved.kind === "refused") return resolved;
    if (!this.hides(resolved.value)) return done(undefined);
    return refused(404, `${absolute} does not exist.`, { field: "path" });
  }
}

async function withoutLinks(path: string): Promise<string> {
  const resolved = await resolveLinks(path);
  return resolved.kind === "done" ? resolved.value : path;
}

/** Both absolute. */
function isWithin(path: string, folder: string): boolean {
  const below = relative(folder, path);
  // A name may begin with two dots.
  return below === "" || (below !== ".." && !below.startsWith(`..${sep}`) && !isAbsolute(below));
}
