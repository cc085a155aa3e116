/** The git watches of an agent, and the folders that each chat has worked in. */
import { dirname } from "node:path";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import { absolutePath } from "../files/paths.js";
import type { Environment } from "../process/environment.js";
import type { ChatScope } from "../process/process-registry.js";
import type { GitWatchMessage } from "../protocol/git.js";
import { ChatPaths } from "./chat-paths.js";
import { ChatWatch } from "./chat-watch.js";
import { Repositories } from "./repositories.js";

export type GitWatchesOptions = { directory: string; environment: Environment; clock: Clock; log: Log };

export type RunningWatch = {
  refresh(id?: number): void;
  /** Resolves when the watch has ended and nothing that it started is left. Never rejects. */
  stop(): Promise<void>;
};

export class GitWatches {
  readonly #paths = new ChatPaths();
  readonly #repositories: Repositories;
  readonly #running = new Set<RunningWatch>();
  #isClosed = false;

  constructor(private readonly options: GitWatchesOptions) {
    this.#repositories = new Repositories(options);
  }

  /** Records that a command of the chat runs, or has run, in the folder. */
  workedIn(scope: ChatScope, folder: string): void {
    this.#paths.add(scope, [folder]);
  }

  /** Records that the chat has changed these files, named as in its request. */
  changedFiles(scope: ChatScope, paths: readonly string[]): void {
    this.#paths.add(
      scope,
      paths.map((path) => dirname(absolutePath(this.options.directory, path))),
    );
  }

  /** Sends the changes of the chat's repositories until it is stopped, or fails and calls `failed`. */
  watch(
    chatId: string,
    send: (message: GitWatchMessage) => Promise<void>,
    failed: (error: unknown) => void,
  ): RunningWatch {
    const { directory, clock, log } = this.options;
    const dependencies = {
      chatId,
      paths: this.#paths,
      repositories: this.#repositories,
      directory,
      clock,
      log,
      send,
    };
    const watch = new ChatWatch(dependencies);
    const stopping = new AbortController();
    if (this.#isClosed) stopping.abort(new Error("The workspace agent is shutting down."));
    const ended = watch.run(stopping.signal).catch((error: unknown) => {
      if (!stopping.signal.aborted) failed(error);
    });
    const running = {
      refresh: (id?: number) => watch.refresh(id),
      stop: async () => {
        stopping.abort(new Error("The watch was stopped."));
        await ended;
        this.#running.delete(running);
      },
    };
    this.#running.add(running);
    return running;
  }

  /** Ends all watches; resolves when no git process is left. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#running].map((running) => running.stop()));
    await this.#repositories.close();
  }
}
