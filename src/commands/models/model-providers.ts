/** Admin commands on model providers: each is one transaction with its audit entry, then announced to all replicas. */
import { randomUUID } from "node:crypto";
import { auditChanges } from "../../domain/users/audit.js";
import { encodeId } from "../../domain/common/ids.js";
import type { SecretUpdate } from "../../domain/mcp/auth-rules.js";
import {
  type NewProvider,
  planNewProvider,
  planProviderChange,
  type ProviderChange,
  type ProviderSetup,
} from "../../domain/models/model-provider-rules.js";
import { demandAdmin, type Actor, type Viewer } from "../../domain/users/viewer.js";
import { addressOf, isLocalName, isPublicAddress } from "../../lib/outbound/address-rules.js";
import type { ModelDiscovery } from "../../domain/models/model-discovery.js";
import type { Queryable } from "../../store/common/database.js";
import {
  deleteProvider as deleteRow,
  forgetDeletedDefaults,
  insertProvider,
  lockModels,
  updateProvider as updateRow,
} from "../../store/models/model-administration.js";
import {
  findProvidersByIds,
  listConfigsOfProviders,
  listProviders,
  type ModelConfigRecord,
  type ProviderRecord,
} from "../../store/models/models.js";
import { forgetPersonalKeys, providerKeyReference } from "../../store/models/provider-keys.js";
import { forgetSmallModel } from "../../store/models/small-model.js";
import { type AdminWork, asAdmin } from "../users/admin.js";
import type { CommandRefusal, CommandResult } from "../common/command-result.js";
import type { ModelDependencies } from "./model-dependencies.js";
import { announced, invalid, refuseAll } from "./model-outcomes.js";

/** Lists of providers are not paginated. */
const MAX_MODEL_PROVIDERS = 100;

export type ProviderChanged = { provider: ProviderRecord };

export async function createProvider(
  dependencies: ModelDependencies,
  actor: Actor,
  wanted: NewProvider,
): Promise<CommandResult<ProviderChanged>> {
  const result = await asAdmin(
    dependencies,
    actor,
    async (transaction): Promise<AdminWork<ProviderChanged>> => {
      await lockModels(transaction);
      const plan = planNewProvider(wanted);
      if (!plan.ok) return refuseAll(plan.problems.map(invalid));
      const all = await listProviders(transaction);
      const refusal = clashOf(all, null, plan.setup) ?? privacyProblem(plan.setup);
      if (refusal) return refuseAll([refusal]);
      if (all.length >= MAX_MODEL_PROVIDERS) {
        const message = `At most ${MAX_MODEL_PROVIDERS} model providers can be set up. Delete one first.`;
        return refuseAll([{ code: "LIMIT_EXCEEDED", message }]);
      }
      const id = randomUUID();
      const sealedKey = sealKey(dependencies, plan.key, { id, sealedKey: null });
      const provider = await insertProvider(transaction, {
        ...{ id, ...plan.setup, sealedKey },
        ...{ isAddressOwn: true, isFormatOwn: true },
      });
      return { ok: true, result: { provider }, audit: auditEntry("created", null, provider) };
    },
  );
  return announced(dependencies, result);
}

/** Absent = unchanged. Writes and announces nothing when nothing differs. */
export async function updateProvider(
  dependencies: ModelDependencies,
  actor: Actor,
  { providerId, ...change }: ProviderChange & { providerId: string },
): Promise<CommandResult<ProviderChanged>> {
  const result = await asAdmin(
    dependencies,
    actor,
    async (transaction): Promise<AdminWork<ProviderChanged>> => {
      await lockModels(transaction);
      const before = await findProvider(transaction, providerId);
      if (before === null) return refuseAll([NO_SUCH_PROVIDER]);
      const plan = planProviderChange({ setup: before, hasKey: before.sealedKey !== null }, change);
      if (!plan.ok) return refuseAll(plan.problems.map(invalid));
      const { setup, hasMoved } = plan;
      const refusal =
        demoProblem(before, change) ??
        clashOf(await listProviders(transaction), before, setup) ??
        (hasSameTarget(before, setup) ? null : privacyProblem(setup)) ??
        (await modelsProblem(dependencies, transaction, { before, setup }));
      if (refusal) return refuseAll([refusal]);
      const sealedKey = sealKey(dependencies, plan.key, before);
      const isAddressOwn = before.isAddressOwn || before.baseUrl !== setup.baseUrl;
      const isFormatOwn = before.isFormatOwn || before.openaiApi !== setup.openaiApi;
      const after = { ...before, ...setup, sealedKey, isAddressOwn, isFormatOwn };
      if (JSON.stringify(after) === JSON.stringify(before)) {
        return { ok: true, result: { provider: before }, audit: null };
      }
      // Users gave their keys for the former host, and for no other.
      if (hasMoved) await forgetPersonalKeys(transaction, providerId);
      const provider = await updateRow(transaction, after);
      return { ok: true, result: { provider }, audit: auditEntry("updated", before, provider) };
    },
  );
  return announced(dependencies, result);
}

/** Deletes the provider with its models, its key and all personal keys. Past messages and usage keep the names. */
export async function deleteProvider(
  dependencies: ModelDependencies,
  actor: Actor,
  providerId: string,
): Promise<CommandResult<{ providerId: string }>> {
  const result = await asAdmin(
    dependencies,
    actor,
    async (transaction): Promise<AdminWork<{ providerId: string }>> => {
      await lockModels(transaction);
      const gone = await findProvider(transaction, providerId);
      if (gone === null) return refuseAll([NO_SUCH_PROVIDER]);
      const configs = await configsOf(transaction, providerId);
      if (configs.some(({ isDefault }) => isDefault)) return refuseAll([refuseLosingDefault("providerId")]);
      await deleteRow(transaction, providerId);
      await forgetDeletedDefaults(transaction);
      await forgetSmallModel(
        transaction,
        configs.map(({ id }) => id),
      );
      return { ok: true, result: { providerId }, audit: auditEntry("deleted", gone, null) };
    },
  );
  return announced(dependencies, result);
}

/** Null when there is no such provider. Throws `Forbidden` unless the viewer is an admin. */
export async function discoverModels(
  dependencies: ModelDependencies,
  viewer: Viewer,
  providerId: string,
): Promise<ModelDiscovery | null> {
  demandAdmin(viewer);
  const provider = await findProvider(dependencies.database, providerId);
  return provider && dependencies.discoverModels(provider, viewer.userId);
}

export const NO_SUCH_PROVIDER: CommandRefusal = {
  code: "NOT_FOUND",
  message: "There is no such model provider.",
  path: ["providerId"],
};

/** Null when it does not exist or was deleted. */
export async function findProvider(db: Queryable, id: string): Promise<ProviderRecord | null> {
  const [found] = await findProvidersByIds(db, [id]);
  return found && !found.isDeleted ? found : null;
}

async function configsOf(db: Queryable, providerId: string): Promise<ModelConfigRecord[]> {
  return (await listConfigsOfProviders(db, [providerId])).get(providerId) ?? [];
}

function clashOf(
  all: readonly ProviderRecord[],
  self: ProviderRecord | null,
  { displayName }: ProviderSetup,
): CommandRefusal | null {
  const isTaken = all.some((it) => it.id !== self?.id && it.displayName === displayName);
  if (!isTaken) return null;
  return { code: "CONFLICT", message: "Another provider has this name.", path: ["displayName"] };
}

/** Refuses addresses that the outbound guard rejects without a DNS query; names are checked when they are resolved. */
function privacyProblem({ baseUrl, allowsPrivateAddresses }: ProviderSetup): CommandRefusal | null {
  if (baseUrl === null || allowsPrivateAddresses) return null;
  const { hostname } = new URL(baseUrl);
  const address = addressOf(hostname);
  const isPrivate = address === undefined ? isLocalName(hostname) : !isPublicAddress(address);
  if (!isPrivate) return null;
  const message =
    "This address is on this machine or in a private network: set isPrivateNetworkAllowed if that is intended.";
  return { code: "INVALID", message, path: ["baseUrl"] };
}

function demoProblem({ isDemo }: ProviderRecord, change: ProviderChange): CommandRefusal | null {
  const field = (["baseUrl", "apiKey", "keyPolicy"] as const).find((it) => change[it] !== undefined);
  if (!isDemo || field === undefined) return null;
  const message = "The demo model is a part of this server: it has no address and no key.";
  return { code: "INVALID", message, path: [field] };
}

/** The default model must stay enabled, and models' options must stay valid for the provider's format. */
async function modelsProblem(
  dependencies: ModelDependencies,
  transaction: Queryable,
  { before, setup }: { before: ProviderRecord; setup: ProviderSetup },
): Promise<CommandRefusal | null> {
  const isDisabled = before.isEnabled && !setup.isEnabled;
  const formatChanged = before.openaiApi !== setup.openaiApi;
  if (!isDisabled && !formatChanged) return null;
  const configs = await configsOf(transaction, before.id);
  if (isDisabled && configs.some(({ isDefault }) => isDefault)) return refuseLosingDefault("isEnabled");
  if (!formatChanged) return null;
  for (const { displayName, providerOptions } of configs) {
    const [problem] = dependencies.validateOptions(setup, providerOptions);
    if (problem === undefined) continue;
    const message = `${displayName} has an option that this format does not know: ${problem.path.join(".")}. Change that first.`;
    return { code: "CONFLICT", message, path: ["openaiApi"] };
  }
  return null;
}

function refuseLosingDefault(field: string): CommandRefusal {
  const message = "The default model is one of this provider's. Make another model the default first.";
  return { code: "CONFLICT", message, path: [field] };
}

function sealKey(
  { secrets }: ModelDependencies,
  wanted: SecretUpdate,
  { id, sealedKey }: Pick<ProviderRecord, "id" | "sealedKey">,
): string | null {
  if (wanted === "keep") return sealedKey;
  return wanted === "clear" ? null : secrets.seal(wanted.set, providerKeyReference(id));
}

function hasSameTarget(before: ProviderSetup, after: ProviderSetup): boolean {
  return before.baseUrl === after.baseUrl && before.allowsPrivateAddresses === after.allowsPrivateAddresses;
}

/** The admin's settings, as compared for the audit log. */
function audited(provider: ProviderRecord) {
  return {
    kind: provider.kind,
    displayName: provider.displayName,
    baseUrl: provider.baseUrl && withoutCredentials(provider.baseUrl),
    openaiApi: provider.openaiApi,
    keyPolicy: provider.keyPolicy,
    isEnabled: provider.isEnabled,
    isPrivateNetworkAllowed: provider.allowsPrivateAddresses,
    apiKey: provider.sealedKey,
  };
}

/** An address from the environment may contain a password. */
function withoutCredentials(address: string): string | null {
  if (!URL.canParse(address)) return null;
  const url = new URL(address);
  [url.username, url.password] = ["", ""];
  return url.href;
}

function auditEntry(
  verb: "created" | "updated" | "deleted",
  before: ProviderRecord | null,
  after: ProviderRecord | null,
) {
  const named = after ?? before;
  return {
    action: `model_provider_${verb}` as const,
    targetId: named && encodeId("prov", named.id),
    targetName: named && named.displayName,
    changes: auditChanges(before && audited(before), after && audited(after), ["apiKey"]),
  };
}
