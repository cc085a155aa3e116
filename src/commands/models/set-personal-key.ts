/** Sets or removes the viewer's own key for a model provider, used for turns of their chats. */
import type { SecretChange } from "../../domain/mcp/auth-rules.js";
import type { Problem } from "../../domain/mcp/field-rules.js";
import { takesPersonalKeys } from "../../domain/models/model-keys.js";
import { readKey } from "../../domain/models/model-provider-rules.js";
import type { Viewer } from "../../domain/users/viewer.js";
import { lockModels } from "../../store/models/model-administration.js";
import { removePersonalKey, setPersonalKey as keepKey } from "../../store/models/provider-keys.js";
import type { CommandResult } from "../common/command-result.js";
import type { ModelDependencies } from "./model-dependencies.js";
import { announced, invalid, refuseAll } from "./model-outcomes.js";
import { findProvider, NO_SUCH_PROVIDER, type ProviderChanged } from "./model-providers.js";

/** Removing is always allowed; setting only where the provider is enabled and uses personal keys. */
export async function setPersonalKey(
  dependencies: ModelDependencies,
  viewer: Viewer,
  { providerId, apiKey }: { providerId: string; apiKey: SecretChange },
): Promise<CommandResult<ProviderChanged>> {
  const problems: Problem[] = [];
  const wanted = readKey(apiKey, (message, ...path) => problems.push({ message, path: ["apiKey", ...path] }));
  if (problems.length > 0) return refuseAll(problems.map(invalid));
  const owner = { userId: viewer.userId, providerId };
  const result = await dependencies.database.transaction(
    async (transaction): Promise<CommandResult<ProviderChanged>> => {
      // A concurrent move of the provider to another host sees the key and deletes it.
      await lockModels(transaction);
      const provider = await findProvider(transaction, providerId);
      if (provider === null) return refuseAll([NO_SUCH_PROVIDER]);
      if (typeof wanted !== "object") {
        await removePersonalKey(transaction, owner);
        return { ok: true, provider };
      }
      if (!provider.isEnabled || !takesPersonalKeys(provider.keyPolicy)) {
        const message = provider.isEnabled
          ? "This provider is paid by the deployment and takes no personal keys."
          : "This provider is disabled.";
        return refuseAll([{ code: "INVALID", message, path: ["providerId"] }]);
      }
      await keepKey(transaction, dependencies.secrets, { ...owner, key: wanted.set });
      return { ok: true, provider };
    },
  );
  return announced(dependencies, result);
}
