/** The commands about models as one object, for whoever speaks for people. */
import type { ModelCommands, ModelDependencies } from "./model-commands.js";
import { createModel, deleteModel, updateModel } from "./model-configs.js";
import { createProvider, deleteProvider, discoverModels, updateProvider } from "./model-providers.js";
import { setPersonalKey } from "./set-personal-key.js";

export function createModelCommands(dependencies: ModelDependencies): ModelCommands {
  return {
    createProvider: (actor, wanted) => createProvider(dependencies, actor, wanted),
    updateProvider: (actor, change) => updateProvider(dependencies, actor, change),
    deleteProvider: (actor, providerId) => deleteProvider(dependencies, actor, providerId),
    createModel: (actor, wanted) => createModel(dependencies, actor, wanted),
    updateModel: (actor, change) => updateModel(dependencies, actor, change),
    deleteModel: (actor, modelConfigId) => deleteModel(dependencies, actor, modelConfigId),
    setPersonalKey: (viewer, input) => setPersonalKey(dependencies, viewer, input),
    discoverModels: (viewer, providerId) => discoverModels(dependencies, viewer, providerId),
  };
}
