/** Admins set up what holds for the whole deployment. */
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
  holdDeploymentSettings,
  readDeploymentSettings,
  writeDeploymentSettings,
} from "../../store/common/deployment-settings.js";
import { asAdmin } from "../users/admin.js";
import type { CommandResult } from "../chats/chat-commands.js";
import { refuse } from "./command-dependencies.js";

/** As they are stored, with what counts where nothing is. */
export type ShownDeploymentSettings = DeploymentSettingsRecord & { effectiveBatchSize: number };

export interface DeploymentCommands {
  isDesktopEnabled(): Promise<boolean>;
  /** Null for anybody but admins. */
  readSettings(viewer: Viewer): Promise<ShownDeploymentSettings | null>;
  /** Turns and workers of every replica use them from then on. Throws `Forbidden` for anybody but admins. */
  updateSettings(
    actor: Actor,
    change: DeploymentChange,
  ): Promise<CommandResult<{ settings: ShownDeploymentSettings }>>;
}

export type DeploymentDependencies = {
  database: Database;
  /** Tells every replica that they were changed. After the commit; never throws. */
  announceSettings(): void;
  isDesktopEnabled(): Promise<boolean>;
  /** What counts while nothing is set. */
  environment: { acquireBatchSize: number };
  /** Takes from people's words what could mislead a reader of the system prompt. */
  sanitizePrompt(text: string): string;
};

export function createDeploymentCommands(dependencies: DeploymentDependencies): DeploymentCommands {
  const shown = (record: DeploymentSettingsRecord): ShownDeploymentSettings => ({
    ...record,
    effectiveBatchSize: record.acquireBatchSize ?? dependencies.environment.acquireBatchSize,
  });
  return {
    isDesktopEnabled: () => dependencies.isDesktopEnabled(),
    readSettings: async (viewer) =>
      viewer.role === "admin" ? shown(await readDeploymentSettings(dependencies.database)) : null,
    async updateSettings(actor, change) {
      const result = await update(dependencies, actor, change);
      return result.ok ? { ok: true, settings: shown(result.settings) } : result;
    },
  };
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
    const before = await holdDeploymentSettings(transaction);
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
  // A zero character means nothing to anybody.
  return { ...change, systemPrompt: dependencies.sanitizePrompt(systemPrompt.replaceAll("\u0000", "")) };
}

function stored(settings: DeploymentSettings): DeploymentSettings {
  const { systemPrompt, workspaceTtlMs, isDesktopEnabled, acquireBatchSize } = settings;
  return { systemPrompt, workspaceTtlMs, isDesktopEnabled, acquireBatchSize };
}
