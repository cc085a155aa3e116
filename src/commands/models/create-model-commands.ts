/** The commands about models as one object, for whoever speaks for people. */
import type { ModelCommands, ModelParts } from "./model-commands.js";
import { createModel, deleteModel, updateModel } from "./model-configs.js";
import { createProvider, deleteProvider, discoverModels, updateProvider } from "./model-providers.js";
import { setPersonalKey } from "./set-personal-key.js";

export function createModelCommands(parts: ModelParts): ModelCommands {
  return {
    createProvider: (actor, wanted) => createProvider(parts, actor, wanted),
    updateProvider: (actor, change) => updateProvider(parts, actor, change),
    deleteProvider: (actor, providerId) => deleteProvider(parts, actor, providerId),
    createModel: (actor, wanted) => createModel(parts, actor, wanted),
    updateModel: (actor, change) => updateModel(parts, actor, change),
    deleteModel: (actor, modelConfigId) => deleteModel(parts, actor, modelConfigId),
    setPersonalKey: (viewer, input) => setPersonalKey(parts, viewer, input),
    discoverModels: (viewer, providerId) => discoverModels(parts, viewer, providerId),
  };
}
