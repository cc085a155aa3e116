/**
 * File watcher for MCP configuration: notifies when a file appears, changes or is removed. Watches the nearest existing
 * folder above each file, and in it only the path to the file. Missed changes are found by the next list of tools.
 */
import { existsSync } from "node:fs";
import { dirname, parse } from "node:path";
import type { FSWatcher } from "chokidar";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";

/** An editor writes a file in several steps. */
const DEBOUNCE_MS = 250;

export type ConfigWatchDependencies = { clock: Clock; log: Log; onChange(): void };

export class ConfigWatch {
  #watcher: FSWatcher | undefined;
  #paths: readonly string[] = [];
  #cancel: (() => void) | undefined;
  #updating: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(private readonly dependencies: ConfigWatchDependencies) {}

  /** Replaces the watched files; paths are absolute. Never rejects. */
  watch(paths: readonly string[]): Promise<void> {
    this.#updating = this.#updating.then(() => this.#move(paths));
    return this.#updating;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel?.();
    await this.#updating;
    await this.#watcher?.close();
  }

  async #move(paths: readonly string[]): Promise<void> {
    if (this.#isClosed || paths.join("\n") === this.#paths.join("\n")) return;
    this.#paths = paths;
    await this.#watcher?.close();
    try {
      // Loaded lazily, to keep it out of the agent's startup.
      const { watch } = await import("chokidar");
      const folders = new Set(paths.map(nearestFolder));
      const wanted = new Set(paths.flatMap(pathAndFolders));
      const watcher = watch([...folders], { ignored: (path) => !wanted.has(path), ignoreInitial: true });
      // Changes before the watcher was ready cause no event, so it counts as a change.
      watcher.on("ready", () => this.#notice());
      watcher.on("all", () => this.#notice());
      watcher.on("error", (error) =>
        this.dependencies.log.warn({ err: error }, "watch of MCP configuration files failed"),
      );
      this.#watcher = watcher;
    } catch (error) {
      this.dependencies.log.warn({ err: error }, "MCP configuration files cannot be watched");
    }
  }

  #notice(): void {
    this.#cancel?.();
    if (this.#isClosed) return;
    this.#cancel = this.dependencies.clock.after(DEBOUNCE_MS, () => this.dependencies.onChange());
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
