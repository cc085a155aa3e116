/** A person's browser wants to be told of turns, or does not any more. */
import { subscriptionMistakes, type WantedPush } from "../../domain/push/push.js";
import type { Viewer } from "../../domain/users/viewer.js";
import {
  registerPushSubscription as keepSubscription,
  unregisterPushSubscription as forgetSubscription,
  type PushSubscriptionRecord,
} from "../../store/push/push.js";
import type { CommandResult } from "../chats/chat-commands.js";
import { notFound, refuse, type CommandDependencies } from "../common/command-dependencies.js";

/** Takes the place of an earlier subscription of the same browser, also of its id. */
export async function registerPushSubscription(
  dependencies: CommandDependencies,
  viewer: Viewer,
  wanted: WantedPush,
): Promise<CommandResult<{ subscription: PushSubscriptionRecord }>> {
  const mistakes = subscriptionMistakes(wanted, { isPrivateAllowed: dependencies.isPushPrivateAllowed });
  const [first, ...others] = mistakes.map(({ field, message }) => ({
    code: "INVALID" as const,
    message,
    path: [field],
  }));
  if (first) return refuse({ ...first, others });
  const given = { ...wanted, userId: viewer.userId };
  const subscription = await keepSubscription(dependencies.database, dependencies.secrets, given);
  dependencies.bus.publishConfigChange("push");
  return { ok: true, subscription };
}

export async function unregisterPushSubscription(
  dependencies: CommandDependencies,
  viewer: Viewer,
  endpoint: string,
): Promise<CommandResult<{ subscriptionId: string }>> {
  const subscriptionId = await forgetSubscription(dependencies.database, viewer.userId, endpoint);
  if (subscriptionId === null) return notFound("push subscription", "endpoint");
  dependencies.bus.publishConfigChange("push");
  return { ok: true, subscriptionId };
}
