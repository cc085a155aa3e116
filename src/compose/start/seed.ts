/** Seeds a deployment once: the first admin, a model, the default workspace. */
import type { Config } from "../../config/config.js";
import type { Log } from "../../lib/log.js";
import type { Database } from "../../store/common/database.js";
import { ensureDefaultProviders } from "../../store/models/default-models.js";
import { ensureSmallModel } from "../../store/models/small-model.js";
import { ensureFirstAdmin, findOldestAdmin } from "../../store/users/users.js";
import { ensureLocalWorkspace } from "../../store/workspaces/workspaces.js";
import { environmentModels } from "../model-environment.js";

/** Creates what is missing and returns the current state. */
export async function seed(config: Config, database: Database, log: Log) {
  const admin = await ensureFirstAdmin(database, config.adminToken ? { token: config.adminToken } : {});
  const models = environmentModels(config);
  const { provider, modelConfig, isNamedModelRefused } = await ensureDefaultProviders(database, models);
  if (isNamedModelRefused) {
    log.warn(
      "PARLEY_MODEL has changed, but its provider was disabled or deleted; the default model stays the same",
    );
  }
  if (!(await ensureSmallModel(database, models, config.smallModel))) {
    log.warn("PARLEY_SMALL_MODEL is set, but no provider has a key; the chats' own models are used instead");
  }
  const owner = admin?.user ?? (await findOldestAdmin(database));
  const local = { directory: config.workspaceDir, name: "local" };
  const workspace = owner && (await ensureLocalWorkspace(database, { ownerId: owner.id, ...local }));
  return {
    adminToken: admin?.token ?? null,
    workspaceId: workspace?.id ?? null,
    workspaceOwnerId: workspace?.ownerId ?? null,
    modelName: modelConfig.displayName,
    isDemoModel: provider.isDemo,
  };
}
