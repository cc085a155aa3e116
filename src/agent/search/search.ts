/** Searches of the workspace: files by name, lines by regular expression. */
import { realpath, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, relative } from "node:path";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import type { HiddenFolders } from "../files/hidden-folders.js";
import { absolutePath, fileRefusal } from "../files/paths.js";
import { done, refused, type Outcome } from "../outcome.js";
import type { Environment } from "../process/environment.js";
import {
  DEFAULT_FOUND_FILES,
  DEFAULT_FOUND_LINES,
  MAX_SEARCH_MS,
  type FindFilesAnswer,
  type FindFilesRequest,
  type SearchFilesAnswer,
  type SearchFilesRequest,
} from "../protocol/search.js";
import { scopeOfFolder, type SearchScope } from "./ignore-files.js";
import type { RipgrepCounts } from "./jobs.js";
import { compileLinePattern } from "./line-pattern.js";
import { toRipgrepPattern } from "./ripgrep-pattern.js";
import { Ripgrep } from "./ripgrep.js";
import { SearchThreads } from "./search-threads.js";

/** Part of a search's time that is reserved for reading the files that ripgrep found. */
const READING_MS = 5_000;

export type SearchOptions = {
  directory: string;
  hiddenFolders: HiddenFolders;
  environment: Environment;
  clock: Clock;
  log: Log;
};

type Target = { scope: SearchScope; shownPrefix: string };

export class Search {
  readonly #threads: SearchThreads;
  readonly #ripgrep: Ripgrep;
  readonly #closing = new AbortController();

  constructor(private readonly options: SearchOptions) {
    this.#threads = new SearchThreads(options.clock);
    this.#ripgrep = new Ripgrep(options);
  }

  /** `signal` cancels the search. */
  async findFiles(request: FindFilesRequest, signal: AbortSignal): Promise<Outcome<FindFilesAnswer>> {
    const target = await this.#target(request);
    if (target.kind === "refused") return target;
    if (target.value.scope.onlyFile !== undefined)
      return refused(400, `${request.path ?? ""} is a file, not a folder to find files in.`, {
        field: "path",
      });
    return this.#threads.run(
      {
        kind: "find",
        ...target.value,
        glob: request.pattern,
        limit: request.limit ?? DEFAULT_FOUND_FILES,
        timeMs: MAX_SEARCH_MS,
      },
      signal,
    );
  }

  /** `signal` cancels the search. */
  async searchFiles(request: SearchFilesRequest, signal: AbortSignal): Promise<Outcome<SearchFilesAnswer>> {
    const { pattern, ignoreCase = false, glob, limit = DEFAULT_FOUND_LINES } = request;
    const compiled = compileLinePattern(pattern, ignoreCase);
    if (compiled.kind === "refused") return compiled;
    const target = await this.#target(request);
    if (target.kind === "refused") return target;
    const { clock } = this.options;
    const deadline = clock.now() + MAX_SEARCH_MS;
    const counts = await this.#count(target.value.scope, { pattern, ignoreCase }, signal);
    const timeMs = Math.max(0, deadline - clock.now());
    return this.#threads.run(
      { kind: "search", ...target.value, pattern, ignoreCase, glob, limit, timeMs, counts },
      signal,
    );
  }

  /** Cancels every search; resolves when no thread is left. */
  close(): Promise<void> {
    this.#closing.abort();
    return this.#threads.close();
  }

  /** Undefined for a single file, which is read without ripgrep. */
  async #count(
    scope: SearchScope,
    { pattern, ignoreCase }: { pattern: string; ignoreCase: boolean },
    signal: AbortSignal,
  ): Promise<RipgrepCounts | undefined> {
    const translated = scope.onlyFile === undefined ? toRipgrepPattern(pattern) : undefined;
    if (translated === undefined) return undefined;
    const timeMs = MAX_SEARCH_MS - READING_MS;
    const until = AbortSignal.any([signal, this.#closing.signal]);
    return this.#ripgrep.count({ scope, pattern: translated, ignoreCase, timeMs }, until);
  }

  async #target(request: { path?: string; includeIgnored?: boolean }): Promise<Outcome<Target>> {
    const { directory, hiddenFolders } = this.options;
    const wanted = absolutePath(directory, request.path ?? ".");
    try {
      const path = await realpath(wanted);
      if (hiddenFolders.hides(path)) return refused(404, `${wanted} does not exist.`, { field: "path" });
      const stats = await stat(path);
      if (stats.isFile()) {
        const scope = { folder: dirname(path), onlyFile: basename(path), usesIgnoreFiles: false };
        const shown = basename(wanted) === basename(path) ? wanted : path;
        return done({ scope, shownPrefix: prefixFor(directory, dirname(shown)) });
      }
      if (!stats.isDirectory())
        return refused(400, `${wanted} is neither a folder nor a file.`, { field: "path" });
      const scope = {
        ...scopeOfFolder(path, request.includeIgnored ?? false),
        hidden: hiddenFolders.folders.filter((folder) => hiddenFolders.hides(folder)),
      };
      return done({ scope, shownPrefix: prefixFor(directory, wanted) });
    } catch (error) {
      return fileRefusal(error, wanted);
    }
  }
}

/** Prefix that makes paths in `folder` valid in later requests. */
function prefixFor(directory: string, folder: string): string {
  const path = relative(directory, folder);
  if (path === "") return "";
  return `${path.startsWith("..") || isAbsolute(path) ? folder : path}/`.replace(/^\/\/$/, "/");
}
