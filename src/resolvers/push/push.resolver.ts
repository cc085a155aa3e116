/** The viewer's push subscriptions. */
import { Arg, Ctx, FieldResolver, Mutation, Resolver } from "type-graphql";
import { encodeId } from "../../domain/common/ids.js";
import { Deployment } from "../../schema/common/deployment.type.js";
import {
  PushSubscription,
  RegisterPushSubscriptionInput,
  RegisterPushSubscriptionPayload,
  UnregisterPushSubscriptionInput,
  UnregisterPushSubscriptionPayload,
} from "../../schema/push/push-subscription.type.js";
import { SignedInViewer } from "../../schema/users/user.type.js";
import { listPushSubscriptions } from "../../store/push/push.js";
import type { Context } from "../common/context.js";
import { toPushSubscription } from "../common/shapes.js";
import { toUserErrors } from "../common/user-errors.js";

/** Longer than any browser's user agent. */
const MAX_USER_AGENT_CHARACTERS = 300;

@Resolver(() => SignedInViewer)
export class PushResolver {
  @FieldResolver(() => [PushSubscription], {
    description:
      "Browsers that are notified when one of the viewer's turns ends while no client follows the chat, oldest first. At most 20.",
  })
  async pushSubscriptions(@Ctx() { database, viewer }: Context): Promise<PushSubscription[]> {
    return (await listPushSubscriptions(database, viewer.userId)).map(toPushSubscription);
  }

  @Mutation(() => RegisterPushSubscriptionPayload, {
    description:
      "Registers a browser for push notifications about the viewer's turns. Replaces an earlier registration of the same endpoint, which loses its ID. Beyond 20, the oldest registration is removed.",
  })
  async registerPushSubscription(
    @Arg("input", () => RegisterPushSubscriptionInput, { description: "The parameters of the mutation." })
    { endpoint, p256dh, auth, userAgent }: RegisterPushSubscriptionInput,
    @Ctx() { commands, viewer }: Context,
  ): Promise<RegisterPushSubscriptionPayload> {
    const wanted = {
      endpoint,
      p256dh,
      auth,
      userAgent: userAgent?.slice(0, MAX_USER_AGENT_CHARACTERS) ?? null,
    };
    const result = await commands.registerPushSubscription(viewer, wanted);
    if (!result.ok) return { subscription: null, userErrors: toUserErrors(result.refusal) };
    return { subscription: toPushSubscription(result.subscription), userErrors: [] };
  }

  @Mutation(() => UnregisterPushSubscriptionPayload, {
    description: "Removes the registration of one of the viewer's browsers for push notifications.",
  })
  async unregisterPushSubscription(
    @Arg("input", () => UnregisterPushSubscriptionInput, { description: "The parameters of the mutation." })
    { endpoint }: UnregisterPushSubscriptionInput,
    @Ctx() { commands, viewer }: Context,
  ): Promise<UnregisterPushSubscriptionPayload> {
    const result = await commands.unregisterPushSubscription(viewer, endpoint);
    if (!result.ok) return { deletedId: null, userErrors: toUserErrors(result.refusal) };
    return { deletedId: encodeId("push", result.subscriptionId), userErrors: [] };
  }
}

@Resolver(() => Deployment)
export class PushKeyResolver {
  @FieldResolver(() => String, {
    nullable: true,
    description:
      "The VAPID public key to subscribe with in a browser (`applicationServerKey`), in base64url. Null if the deployment cannot decrypt its own key.",
  })
  pushPublicKey(@Ctx() { pushPublicKey }: Context): Promise<string | null> {
    return pushPublicKey();
  }
}
