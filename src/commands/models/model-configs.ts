/** Admin commands on models: each is one transaction with its audit entry, then announced to all replicas. */
import { randomUUID } from "node:crypto";
import { auditChanges } from "../../domain/users/audit.js";
import { encodeId } from "../../domain/common/ids.js";
import {
  type ValidateOptions,
  type ModelChange,
  type ModelSetup,
  type NewModel,
  planDefault,
  planModelChange,
  planNewModel,
} from "../../domain/models/model-config-rules.js";
import type { Actor } from "../../domain/users/viewer.js";
import type { Queryable } from "../../store/common/database.js";
import {
  deleteConfig,
  forgetDeletedDefaults,
  insertConfig,
  lockModels,
  makeDefault,
  updateConfig,
} from "../../store/models/model-administration.js";
import {
  findModelConfigsByIds,
  listModelConfigs,
  type ModelConfigRecord,
  type ProviderRecord,
} from "../../store/models/models.js";
import { forgetSmallModel } from "../../store/models/small-model.js";
import { type AdminWork, asAdmin } from "../users/admin.js";
import type { CommandRefusal, CommandResult } from "../common/command-result.js";
import type { ModelDependencies } from "./model-dependencies.js";
import { announced, invalid, refuseAll } from "./model-outcomes.js";
import { findProvider, NO_SUCH_PROVIDER } from "./model-providers.js";

/** Of all providers together; lists of models are not paginated. */
const MAX_MODELS = 500;

export type ModelChanged = { modelConfig: ModelConfigRecord };

export async function createModel(
  dependencies: ModelDependencies,
  actor: Actor,
  { providerId, ...wanted }: NewModel & { providerId: string },
): Promise<CommandResult<ModelChanged>> {
  const result = await asAdmin(dependencies, actor, async (transaction): Promise<AdminWork<ModelChanged>> => {
    await lockModels(transaction);
    const provider = await findProvider(transaction, providerId);
    if (provider === null) return refuseAll([NO_SUCH_PROVIDER]);
    const plan = planNewModel(provider.kind, wanted, optionsValidatorFor(dependencies, provider));
    if (!plan.ok) return refuseAll(plan.problems.map(invalid));
    const all = await listModelConfigs(transaction, { includeDisabled: true });
    const id = randomUUID();
    const candidate = { id, isDefault: false, provider };
    const placement = placementOf(all, candidate, { setup: plan.setup, isDefault: wanted.isDefault });
    if (!placement.ok) return refuseAll([placement.refusal]);
    if (all.length >= MAX_MODELS) {
      const message = `At most ${MAX_MODELS} models can be set up. Delete one first.`;
      return refuseAll([{ code: "LIMIT_EXCEEDED", message }]);
    }
    const created = await insertConfig(transaction, { id, providerId, ...plan.setup });
    const modelConfig = placement.becomesDefault ? await asDefault(transaction, created) : created;
    return { ok: true, result: { modelConfig }, audit: auditEntry("created", null, modelConfig) };
  });
  return announced(dependencies, result);
}

/** Absent = unchanged. Writes and announces nothing when nothing differs. */
export async function updateModel(
  dependencies: ModelDependencies,
  actor: Actor,
  { modelConfigId, ...change }: ModelChange & { modelConfigId: string },
): Promise<CommandResult<ModelChanged>> {
  const result = await asAdmin(dependencies, actor, async (transaction): Promise<AdminWork<ModelChanged>> => {
    await lockModels(transaction);
    const before = await findConfig(transaction, modelConfigId);
    const provider = before && (await findProvider(transaction, before.providerId));
    if (before === null || provider === null) return refuseAll([NO_SUCH_MODEL]);
    const plan = planModelChange(before, change, optionsValidatorFor(dependencies, provider));
    if (!plan.ok) return refuseAll(plan.problems.map(invalid));
    const all = await listModelConfigs(transaction, { includeDisabled: true });
    const candidate = { id: before.id, isDefault: before.isDefault, provider };
    const placement = placementOf(all, candidate, { setup: plan.setup, isDefault: change.isDefault });
    if (!placement.ok) return refuseAll([placement.refusal]);
    const { becomesDefault } = placement;
    const { id, providerId } = before;
    const isSame = isAsBefore(before, { ...before, ...plan.setup }) && !becomesDefault;
    if (isSame) return { ok: true, result: { modelConfig: before }, audit: null };
    const changed = await updateConfig(transaction, { id, providerId, ...plan.setup });
    const modelConfig = becomesDefault ? await asDefault(transaction, changed) : changed;
    return { ok: true, result: { modelConfig }, audit: auditEntry("updated", before, modelConfig) };
  });
  return announced(dependencies, result);
}

/** Past messages and usage keep its name; chats that use it get the default model from now on. */
export async function deleteModel(
  dependencies: ModelDependencies,
  actor: Actor,
  modelConfigId: string,
): Promise<CommandResult<{ modelConfigId: string }>> {
  const result = await asAdmin(
    dependencies,
    actor,
    async (transaction): Promise<AdminWork<{ modelConfigId: string }>> => {
      await lockModels(transaction);
      const gone = await findConfig(transaction, modelConfigId);
      if (gone === null) return refuseAll([NO_SUCH_MODEL]);
      if (gone.isDefault) {
        const message = "This is the default model. Make another one the default first.";
        return refuseAll([{ code: "CONFLICT", message, path: ["modelConfigId"] }]);
      }
      await deleteConfig(transaction, modelConfigId);
      await forgetDeletedDefaults(transaction);
      await forgetSmallModel(transaction, [modelConfigId]);
      return { ok: true, result: { modelConfigId }, audit: auditEntry("deleted", gone, null) };
    },
  );
  return announced(dependencies, result);
}

const NO_SUCH_MODEL: CommandRefusal = {
  code: "NOT_FOUND",
  message: "There is no such model.",
  path: ["modelConfigId"],
};

function optionsValidatorFor(
  dependencies: ModelDependencies,
  { kind, openaiApi }: ProviderRecord,
): ValidateOptions {
  return (options) => dependencies.validateOptions({ kind, openaiApi }, options);
}

async function findConfig(db: Queryable, id: string): Promise<ModelConfigRecord | null> {
  const [found] = await findModelConfigsByIds(db, [id]);
  return found && !found.isDeleted ? found : null;
}

async function asDefault(transaction: Queryable, config: ModelConfigRecord): Promise<ModelConfigRecord> {
  await makeDefault(transaction, config.id);
  return { ...config, isDefault: true };
}

type Candidate = { id: string; isDefault: boolean; provider: ProviderRecord };
type Placement = { ok: true; becomesDefault: boolean } | { ok: false; refusal: CommandRefusal };

/** Checks a model against all others. The same model may exist twice, with other options and another name. */
function placementOf(
  all: readonly ModelConfigRecord[],
  { id, isDefault, provider }: Candidate,
  wanted: { setup: ModelSetup; isDefault: boolean | null | undefined },
): Placement {
  const { displayName, isEnabled } = wanted.setup;
  if (all.some((it) => it.id !== id && it.providerId === provider.id && it.displayName === displayName)) {
    const message = "Another model of this provider has this name.";
    return { ok: false, refusal: { code: "CONFLICT", message, path: ["displayName"] } };
  }
  const facts = { isDefault, isEnabled, isProviderEnabled: provider.isEnabled };
  const planned = planDefault({ ...facts, wanted: wanted.isDefault ?? undefined });
  return planned.ok ? planned : { ok: false, refusal: { code: "CONFLICT", ...planned.problem } };
}

function isAsBefore(before: ModelConfigRecord, after: ModelConfigRecord): boolean {
  return Object.keys(auditChanges(audited(before), audited(after))).length === 0;
}

/** The admin's settings, as compared for the audit log. */
function audited(config: ModelConfigRecord) {
  return {
    model: config.model,
    displayName: config.displayName,
    contextLimit: config.contextLimit,
    compactionThresholdPercent: config.compactionThresholdPercent,
    maxOutputTokens: config.maxOutputTokens,
    providerOptions: config.providerOptions,
    pricing: config.pricing && pricesOf(config.pricing),
    isEnabled: config.isEnabled,
    isDefault: config.isDefault,
  };
}

/** Without trailing zeros: PostgreSQL returns ten decimals. */
function pricesOf({ input, output, cacheRead, cacheWrite }: NonNullable<ModelConfigRecord["pricing"]>) {
  const short = (price: string | null) =>
    price !== null && price.includes(".") ? price.replace(/\.?0+$/, "") : price;
  return {
    input: short(input),
    output: short(output),
    cacheRead: short(cacheRead),
    cacheWrite: short(cacheWrite),
  };
}

function auditEntry(
  verb: "created" | "updated" | "deleted",
  before: ModelConfigRecord | null,
  after: ModelConfigRecord | null,
) {
  const named = after ?? before;
  return {
    action: `model_config_${verb}` as const,
    targetId: named && encodeId("model", named.id),
    targetName: named && named.displayName,
    changes: auditChanges(before && audited(before), after && audited(after)),
  };
}
