/** Admin commands on the deployment's settings. */
import { auditChanges } from "../../domain/users/audit.js";
import {
  changedDeployment,
  type DeploymentChange,
  type DeploymentSettings,
  problemsOfDeployment,
} from "../../domain/common/deployment-rules.js";
import type { Actor, Viewer } from "../../domain/users/viewer.js";
import type { Database } from "../../store/common/database.js";
import {
  type DeploymentSettingsRecord,
  lockDeploymentSettings,
  readDeploymentSettings,
  writeDeploymentSettings,
} from "../../store/common/deployment-settings.js";
import { bindDependencies } from "./bind-dependencies.js";
import { asAdmin } from "../users/admin.js";
import type { CommandResult } from "./command-result.js";
import { refuse } from "./command-dependencies.js";

/** The stored settings with the effective value of unset ones. */
export type EffectiveDeploymentSettings = DeploymentSettingsRecord & { effectiveBatchSize: number };

export type DeploymentDependencies = {
  database: Database;
  /** Notifies every replica of a change. After the commit; never throws. */
  announceSettings(): void;
  isDesktopEnabled(): Promise<boolean>;
  /** Values for unset settings. */
  environment: { acquireBatchSize: number };
  /** Removes from an admin's text what could mislead a reader of the system prompt. */
  sanitizePrompt(text: string): string;
};

export type DeploymentCommands = ReturnType<typeof createDeploymentCommands>;

export function createDeploymentCommands(dependencies: DeploymentDependencies) {
  return bindDependencies(dependencies, { isDesktopEnabled, readSettings, updateSettings });
}

function isDesktopEnabled(dependencies: DeploymentDependencies): Promise<boolean> {
  return dependencies.isDesktopEnabled();
}

/** Null unless the viewer is an admin. */
async function readSettings(
  { database, environment }: DeploymentDependencies,
  viewer: Viewer,
): Promise<EffectiveDeploymentSettings | null> {
  return viewer.role === "admin" ? effective(await readDeploymentSettings(database), environment) : null;
}

/** Applies to turns and workers of every replica. Throws `Forbidden` unless the actor is an admin. */
async function updateSettings(
  dependencies: DeploymentDependencies,
  actor: Actor,
  change: DeploymentChange,
): Promise<CommandResult<{ settings: EffectiveDeploymentSettings }>> {
  const result = await update(dependencies, actor, change);
  return result.ok ? { ok: true, settings: effective(result.settings, dependencies.environment) } : result;
}

function effective(
  record: DeploymentSettingsRecord,
  { acquireBatchSize }: DeploymentDependencies["environment"],
): EffectiveDeploymentSettings {
  return { ...record, effectiveBatchSize: record.acquireBatchSize ?? acquireBatchSize };
}

async function update(
  dependencies: DeploymentDependencies,
  actor: Actor,
  change: DeploymentChange,
): Promise<CommandResult<{ settings: DeploymentSettingsRecord }>> {
  const result = await asAdmin(dependencies, actor, async (transaction) => {
    const [first, ...others] = problemsOfDeployment(change).map((it) => ({
      code: "INVALID" as const,
      ...it,
    }));
    if (first) return refuse({ ...first, others });
    const before = await lockDeploymentSettings(transaction);
    const after = changedDeployment(before, sanitized(dependencies, change));
    const changes = auditChanges(stored(before), stored(after));
    if (Object.keys(changes).length === 0) return { ok: true, result: { settings: before }, audit: null };
    const settings = await writeDeploymentSettings(transaction, stored(after), actor.userId);
    const audit = { action: "deployment_updated" as const, targetId: null, targetName: null, changes };
    return { ok: true, result: { settings }, audit };
  });
  if (result.ok) dependencies.announceSettings();
  return result;
}

function sanitized(dependencies: DeploymentDependencies, change: DeploymentChange): DeploymentChange {
  const { systemPrompt } = change;
  if (systemPrompt === undefined) return change;
  // PostgreSQL text cannot contain a zero character.
  return { ...change, systemPrompt: dependencies.sanitizePrompt(systemPrompt.replaceAll("\u0000", "")) };
}

function stored(settings: DeploymentSettings): DeploymentSettings {
  const { systemPrompt, workspaceTtlMs, isDesktopEnabled, acquireBatchSize } = settings;
  return { systemPrompt, workspaceTtlMs, isDesktopEnabled, acquireBatchSize };
}
