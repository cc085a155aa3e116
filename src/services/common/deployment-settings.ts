/**
 * Cache of the deployment's settings for turns and workers. Invalidated when any replica announces a change, and after
 * ten seconds in case the announcement was lost.
 */
import type { DeploymentSettings as Settings } from "../../domain/common/deployment-rules.js";
import type { Bus } from "../../events/bus/bus.js";
import type { Clock } from "../../lib/clock.js";
import { type Memoized, memoizeWithTtl } from "../../lib/concurrency/memoize.js";
import type { Queryable } from "../../store/common/database.js";
import { readDeploymentSettings } from "../../store/common/deployment-settings.js";

export type DeploymentSettingsDependencies = {
  database: Queryable;
  clock: Clock;
  bus: Pick<Bus, "onConfigChange">;
  /** Values from this replica's environment for unset settings. */
  environment: { acquireBatchSize: number };
};

export class DeploymentSettings {
  readonly #settings: Memoized<Settings>;
  readonly #stopListening: () => void;

  constructor(private readonly dependencies: DeploymentSettingsDependencies) {
    this.#settings = memoizeWithTtl(
      () => dependencies.clock.now(),
      () => readDeploymentSettings(dependencies.database),
    );
    this.#stopListening = dependencies.bus.onConfigChange((topic) => {
      if (topic === "settings") this.#settings.invalidate();
    });
  }

  /** Appended to Parley's own system prompt; empty = nothing. */
  async systemPrompt(): Promise<string> {
    return (await this.#settings()).systemPrompt;
  }

  async isDesktopEnabled(): Promise<boolean> {
    return (await this.#settings()).isDesktopEnabled;
  }

  /** Idle milliseconds after which workspaces stop; null = each template's own. */
  async workspaceTtlMs(): Promise<number | null> {
    return (await this.#settings()).workspaceTtlMs;
  }

  /** Chats that a worker claims at most at once. */
  async acquireBatchSize(): Promise<number> {
    return (await this.#settings()).acquireBatchSize ?? this.dependencies.environment.acquireBatchSize;
  }

  close(): void {
    this.#stopListening();
  }
}
