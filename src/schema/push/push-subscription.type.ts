/** Browsers that are told of their owner's turns. */
import { Field, ID, InputType, ObjectType } from "type-graphql";
import { Node } from "../common/node.interface.js";
import { DateTimeScalar } from "../scalars/date-time.js";
import { UrlScalar } from "../scalars/url.js";
import { UserError } from "../common/user-error.interface.js";

@ObjectType("PushSubscription", {
  implements: Node,
  simpleResolvers: true,
  description: "A browser that is told by Web Push when a turn of the viewer's ends and nobody looks.",
})
export class PushSubscription implements Node {
  readonly __typename!: "PushSubscription";

  id!: string;

  @Field(() => UrlScalar, { description: "Its address at the browser's push service." })
  endpoint!: string;

  @Field(() => String, {
    nullable: true,
    description: "What the browser called itself when it registered; null when it did not say.",
  })
  userAgent!: string | null;

  @Field(() => DateTimeScalar, { description: "When it was registered last." })
  createdAt!: Date;
}

@InputType("RegisterPushSubscriptionInput", {
  description:
    "What `PushManager.subscribe` gives in the browser, with `Deployment.pushPublicKey` as its `applicationServerKey`.",
})
export class RegisterPushSubscriptionInput {
  @Field(() => UrlScalar, { description: "`endpoint`; https, at most 2,048 characters." })
  endpoint!: string;

  @Field(() => String, { description: "`keys.p256dh`: 65 bytes in base64url." })
  p256dh!: string;

  @Field(() => String, { description: "`keys.auth`: 16 bytes in base64url. Never shown again." })
  auth!: string;

  @Field(() => String, {
    nullable: true,
    description:
      "What the browser calls itself, for its owner to tell browsers apart; cut to 300 characters.",
  })
  userAgent?: string | null;
}

@ObjectType("RegisterPushSubscriptionPayload", {
  simpleResolvers: true,
  description: "The new subscription.",
})
export class RegisterPushSubscriptionPayload {
  @Field(() => PushSubscription, { nullable: true, description: "Null when it was refused." })
  subscription!: PushSubscription | null;

  @Field(() => [UserError], { description: "Why nothing was done; empty on success." })
  userErrors!: UserError[];
}

@InputType("UnregisterPushSubscriptionInput", { description: "Which browser to leave alone." })
export class UnregisterPushSubscriptionInput {
  @Field(() => UrlScalar, { description: "Its address at the push service, as it was registered." })
  endpoint!: string;
}

@ObjectType("UnregisterPushSubscriptionPayload", {
  simpleResolvers: true,
  description: "The subscription that was.",
})
export class UnregisterPushSubscriptionPayload {
  @Field(() => ID, { nullable: true, description: "Null when it was refused." })
  deletedId!: string | null;

  @Field(() => [UserError], { description: "Why nothing was done; empty on success." })
  userErrors!: UserError[];
}
