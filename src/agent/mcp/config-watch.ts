/**
 * Tells when a file that names tool servers appears, changes or goes away. Watches the nearest folder above each that
 * there is, and of that folder only what leads to the file. What it misses is found when somebody asks for the tools.
 */
import { existsSync } from "node:fs";
import { dirname, parse } from "node:path";
import type { FSWatcher } from "chokidar";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";

/** An editor writes a file in several steps. */
export const DEBOUNCE_MS = 250;

export type ConfigWatchDependencies = { clock: Clock; log: Log; onChange(): void };

export class ConfigWatch {
  #watcher: FSWatcher | undefined;
  #paths: readonly string[] = [];
  #cancel: (() => void) | undefined;
  #moving: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(private readonly parts: ConfigWatchDependencies) {}

  /** Watches these files, absolute, and no others any more. Never rejects. */
  watch(paths: readonly string[]): Promise<void> {
    this.#moving = this.#moving.then(() => this.#move(paths));
    return this.#moving;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel?.();
    await this.#moving;
    await this.#watcher?.close();
  }

  async #move(paths: readonly string[]): Promise<void> {
    if (this.#isClosed || paths.join("\n") === this.#paths.join("\n")) return;
    this.#paths = paths;
    await this.#watcher?.close();
    try {
      // Loaded when the agent has told that it listens: nobody waits for it.
      const { watch } = await import("chokidar");
      const folders = new Set(paths.map(nearestFolder));
      const wanted = new Set(paths.flatMap(pathAndFolders));
      const watcher = watch([...folders], { ignored: (path) => !wanted.has(path), ignoreInitial: true });
      // What came between the last look and the first watch is no event: it is looked for once more.
      watcher.on("ready", () => this.#notice());
      watcher.on("all", () => this.#notice());
      watcher.on("error", (error) =>
        this.parts.log.warn({ err: error }, "The tool servers' files are not watched"),
      );
      this.#watcher = watcher;
    } catch (error) {
      this.parts.log.warn({ err: error }, "The tool servers' files cannot be watched");
    }
  }

  #notice(): void {
    this.#cancel?.();
    if (this.#isClosed) return;
    this.#cancel = this.parts.clock.after(DEBOUNCE_MS, () => this.parts.onChange());
  }
}

/** The path itself and every folder above it. */
function pathAndFolders(path: string): string[] {
  const above = dirname(path);
  return above === path ? [path] : [path, ...pathAndFolders(above)];
}

function nearestFolder(path: string): string {
  const { root } = parse(path);
  let folder = dirname(path);
  while (folder !== root && !existsSync(folder)) folder = dirname(folder);
  return folder;
}
