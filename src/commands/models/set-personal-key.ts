/** A person gives a key of their own for a model provider, or takes it away; turns of their chats are paid with it. */
import type { SecretChange } from "../../domain/mcp/auth-rules.js";
import type { Problem } from "../../domain/mcp/field-rules.js";
import { takesPersonalKeys } from "../../domain/models/model-keys.js";
import { readKey } from "../../domain/models/model-provider-rules.js";
import type { Viewer } from "../../domain/users/viewer.js";
import { lockModels } from "../../store/models/model-administration.js";
import { removePersonalKey, setPersonalKey as keepKey } from "../../store/models/provider-keys.js";
import type { CommandResult } from "../chats/chat-commands.js";
import type { ModelDependencies, ProviderChanged } from "./model-commands.js";
import { invalid, refuseAll, told } from "./model-outcomes.js";
import { findProvider, NO_SUCH_PROVIDER } from "./model-providers.js";

/** A key may always be taken away; it is taken only where it will be used. */
export async function setPersonalKey(
  dependencies: ModelDependencies,
  viewer: Viewer,
  { providerId, apiKey }: { providerId: string; apiKey: SecretChange },
): Promise<CommandResult<ProviderChanged>> {
  const problems: Problem[] = [];
  const wanted = readKey(apiKey, (message, ...path) => problems.push({ message, path: ["apiKey", ...path] }));
  if (problems.length > 0) return refuseAll(problems.map(invalid));
  const whose = { userId: viewer.userId, providerId };
  const result = await dependencies.database.transaction(
    async (transaction): Promise<CommandResult<ProviderChanged>> => {
      // Whoever moves the provider to another host meanwhile finds the key, and forgets it.
      await lockModels(transaction);
      const provider = await findProvider(transaction, providerId);
      if (provider === null) return refuseAll([NO_SUCH_PROVIDER]);
      if (typeof wanted !== "object") {
        await removePersonalKey(transaction, whose);
        return { ok: true, provider };
      }
      if (!provider.isEnabled || !takesPersonalKeys(provider.keyPolicy)) {
        const message = provider.isEnabled
          ? "This provider is paid by the deployment: it takes nobody's own key."
          : "This provider is disabled.";
        return refuseAll([{ code: "INVALID", message, path: ["providerId"] }]);
      }
      await keepKey(transaction, dependencies.secrets, { ...whose, key: wanted.set });
      return { ok: true, provider };
    },
  );
  return told(dependencies, result);
}
