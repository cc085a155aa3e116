/** Links to users and models, shared by several types. */
import type { ModelConfig } from "../../schema/models/model.type.js";
import type { User } from "../../schema/users/user.type.js";
import type { Context } from "./context.js";
import { toModelConfig } from "../models/model-shape.js";
import { toUser } from "./shapes.js";

/** The user that a row references. Throws if there is none, which the database's constraints prevent. */
export async function findUser(context: Context, id: string): Promise<User> {
  const record = await context.loaders.users.load(id);
  if (!record) throw new Error(`User ${id} is linked to but does not exist.`);
  return toUser(record);
}

export function findModelConfig(context: Context, id: string | null): Promise<ModelConfig | null> | null {
  if (id === null) return null;
  return context.loaders.modelConfigs.load(id).then((record) => record && toModelConfig(record, context));
}
