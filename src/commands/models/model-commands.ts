/** Commands on model providers, models and personal keys, bound to their dependencies. */
import { bindDependencies } from "../common/bind-dependencies.js";
import { createModel, deleteModel, updateModel } from "./model-configs.js";
import type { ModelDependencies } from "./model-dependencies.js";
import { createProvider, deleteProvider, discoverModels, updateProvider } from "./model-providers.js";
import { setPersonalKey } from "./set-personal-key.js";

/**
 * All ids are database values, not public ids. Changes of providers and models throw `Forbidden` unless the actor is an
 * admin, and report every problem of the input.
 */
export type ModelCommands = ReturnType<typeof createModelCommands>;

export function createModelCommands(dependencies: ModelDependencies) {
  return bindDependencies(dependencies, {
    ...{ createProvider, updateProvider, deleteProvider, discoverModels },
    ...{ createModel, updateModel, deleteModel, setPersonalKey },
  });
}
