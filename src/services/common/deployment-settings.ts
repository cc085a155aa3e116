/**
 * The deployment's settings as turns and workers use them: remembered, so that no turn costs a statement for them, and
 * read anew when any replica tells of a change; where that is lost, after ten seconds.
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
  /** What this replica's environment says; it counts while nothing is set. */
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

  /** Added to Parley's own instructions to the model; empty = nothing. */
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

  /** Most chats that a worker takes at once. */
  async acquireBatchSize(): Promise<number> {
    return (await this.#settings()).acquireBatchSize ?? this.dependencies.environment.acquireBatchSize;
  }

  close(): void {
    this.#stopListening();
  }
}
