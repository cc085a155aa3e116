/** Usage limit commands, bound to their dependencies. */
import { bindDependencies } from "../common/bind-dependencies.js";
import { clearUserLimit, setUserLimit, status, updatePolicy } from "./change-usage-limits.js";
import type { UsageLimitDependencies } from "./usage-limit-dependencies.js";

/**
 * All ids are database values, not public ids. Changes throw `Forbidden` unless the actor is an admin, and apply at
 * once, to running turns too.
 */
export type UsageLimitCommands = ReturnType<typeof createUsageLimitCommands>;

export function createUsageLimitCommands(dependencies: UsageLimitDependencies) {
  return bindDependencies(dependencies, { status, updatePolicy, setUserLimit, clearUserLimit });
}
