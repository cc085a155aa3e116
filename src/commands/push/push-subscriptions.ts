/** Registers and unregisters browsers for push notifications about turns. */
import { subscriptionProblems, type PushRegistration } from "../../domain/push/push.js";
import type { Viewer } from "../../domain/users/viewer.js";
import {
  registerPushSubscription as saveSubscription,
  unregisterPushSubscription as deleteSubscription,
  type PushSubscriptionRecord,
} from "../../store/push/push.js";
import type { CommandResult } from "../common/command-result.js";
import { notFound, refuse, type CommandDependencies } from "../common/command-dependencies.js";

/** Replaces an earlier subscription of the same endpoint, whose id it keeps. */
export async function registerPushSubscription(
  dependencies: CommandDependencies,
  viewer: Viewer,
  wanted: PushRegistration,
): Promise<CommandResult<{ subscription: PushSubscriptionRecord }>> {
  const mistakes = subscriptionProblems(wanted, { isPrivateAllowed: dependencies.isPushPrivateAllowed });
  const [first, ...others] = mistakes.map(({ field, message }) => ({
    code: "INVALID" as const,
    message,
    path: [field],
  }));
  if (first) return refuse({ ...first, others });
  const subscriber = { ...wanted, userId: viewer.userId };
  const subscription = await saveSubscription(dependencies.database, dependencies.secrets, subscriber);
  dependencies.bus.publishConfigChange("push");
  return { ok: true, subscription };
}

export async function unregisterPushSubscription(
  dependencies: CommandDependencies,
  viewer: Viewer,
  endpoint: string,
): Promise<CommandResult<{ subscriptionId: string }>> {
  const subscriptionId = await deleteSubscription(dependencies.database, viewer.userId, endpoint);
  if (subscriptionId === null) return notFound("push subscription", "endpoint");
  dependencies.bus.publishConfigChange("push");
  return { ok: true, subscriptionId };
}
