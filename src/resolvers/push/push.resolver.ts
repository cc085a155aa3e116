/** The viewer's browsers that are told of turns. */
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

/** Browsers say less. */
const MAX_USER_AGENT_CHARACTERS = 300;

@Resolver(() => SignedInViewer)
export class PushResolver {
  @FieldResolver(() => [PushSubscription], {
    description: "Their browsers that are told when a turn ends and nobody looks, oldest first; at most 20.",
  })
  async pushSubscriptions(@Ctx() { database, viewer }: Context): Promise<PushSubscription[]> {
    return (await listPushSubscriptions(database, viewer.userId)).map(toPushSubscription);
  }

  @Mutation(() => RegisterPushSubscriptionPayload, {
    description:
      "Has a browser told of the viewer's turns from now on. Takes the place of what was registered for that endpoint, also of its id; beyond 20 the oldest goes.",
  })
  async registerPushSubscription(
    @Arg("input", () => RegisterPushSubscriptionInput, { description: "The browser's subscription." })
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
    description: "Has a browser of the viewer's told no more.",
  })
  async unregisterPushSubscription(
    @Arg("input", () => UnregisterPushSubscriptionInput, { description: "Which one." })
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
      "What a browser subscribes with (`applicationServerKey`), in base64url; null when the deployment cannot open its own key.",
  })
  pushPublicKey(@Ctx() { pushPublicKey }: Context): Promise<string | null> {
    return pushPublicKey();
  }
}
