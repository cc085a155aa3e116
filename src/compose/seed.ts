/** What a deployment cannot be without: an admin, a model, the default workspace. Made once. */
import type { Config } from "../config/config.js";
import type { Log } from "../lib/log.js";
import type { Database } from "../store/common/database.js";
import { ensureDefaultProviders } from "../store/models/default-models.js";
import { ensureSmallModel } from "../store/models/small-model.js";
import { ensureFirstAdmin, findOldestAdmin } from "../store/users/users.js";
import { ensureLocalWorkspace } from "../store/workspaces/workspaces.js";
import { environmentModels } from "./model-environment.js";

export type Seeded = Awaited<ReturnType<typeof seed>>;

/** Makes what is missing, and says what there is. */
export async function seed(config: Config, database: Database, log: Log) {
  const admin = await ensureFirstAdmin(database, config.adminToken ? { token: config.adminToken } : {});
  const models = environmentModels(config);
  const { provider, modelConfig, isNamedModelRefused } = await ensureDefaultProviders(database, models);
  if (isNamedModelRefused) {
    log.warn(
      "PARLEY_MODEL is set anew, but its provider was switched off or deleted; the default model stays as it is.",
    );
  }
  if (!(await ensureSmallModel(database, models, config.smallModel))) {
    log.warn(
      "PARLEY_SMALL_MODEL is set, but no provider has a key; the chats' own models are asked instead.",
    );
  }
  const owner = admin?.user ?? (await findOldestAdmin(database));
  const place = { directory: config.workspaceDir, name: "local" };
  const workspace = owner && (await ensureLocalWorkspace(database, { ownerId: owner.id, ...place }));
  return {
    adminToken: admin?.token ?? null,
    workspaceId: workspace?.id ?? null,
    workspaceOwnerId: workspace?.ownerId ?? null,
    modelName: modelConfig.displayName,
    isDemoModel: provider.isDemo,
  };
}
