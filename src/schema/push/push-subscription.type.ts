/** Browsers registered for push notifications. */
import { Field, ID, InputType, ObjectType } from "type-graphql";
import { Node } from "../common/node.interface.js";
import { DateTimeScalar } from "../scalars/date-time.js";
import { UrlScalar } from "../scalars/url.js";
import { UserError } from "../common/user-error.interface.js";

@ObjectType("PushSubscription", {
  implements: Node,
  simpleResolvers: true,
  description:
    "A browser registered for Web Push, notified when one of the viewer's turns ends while no client follows the chat.",
})
export class PushSubscription implements Node {
  readonly __typename!: "PushSubscription";

  id!: string;

  @Field(() => UrlScalar, { description: "The subscription's URL at the browser's push service." })
  endpoint!: string;

  @Field(() => String, {
    nullable: true,
    description: "The browser's user agent at registration. Null if it sent none.",
  })
  userAgent!: string | null;

  @Field(() => DateTimeScalar, { description: "When the browser was last registered." })
  createdAt!: Date;
}

@InputType("RegisterPushSubscriptionInput", {
  description:
    "The result of `PushManager.subscribe` in the browser, called with `Deployment.pushPublicKey` as `applicationServerKey`.",
})
export class RegisterPushSubscriptionInput {
  @Field(() => UrlScalar, {
    description: "The value of `endpoint`: an https URL of at most 2,048 characters.",
  })
  endpoint!: string;

  @Field(() => String, { description: "The value of `keys.p256dh`: 65 bytes in base64url." })
  p256dh!: string;

  @Field(() => String, { description: "The value of `keys.auth`: 16 bytes in base64url. Never shown again." })
  auth!: string;

  @Field(() => String, {
    nullable: true,
    description:
      "The browser's user agent, so that its owner can tell browsers apart. Truncated to 300 characters.",
  })
  userAgent?: string | null;
}

@ObjectType("RegisterPushSubscriptionPayload", {
  simpleResolvers: true,
  description: "The new registration.",
})
export class RegisterPushSubscriptionPayload {
  @Field(() => PushSubscription, {
    nullable: true,
    description: "The subscription. Null if the mutation was refused.",
  })
  subscription!: PushSubscription | null;

  @Field(() => [UserError], { description: "Why the mutation was refused. Empty on success." })
  userErrors!: UserError[];
}

@InputType("UnregisterPushSubscriptionInput", { description: "Input of `unregisterPushSubscription`." })
export class UnregisterPushSubscriptionInput {
  @Field(() => UrlScalar, { description: "The endpoint the browser was registered with." })
  endpoint!: string;
}

@ObjectType("UnregisterPushSubscriptionPayload", {
  simpleResolvers: true,
  description: "The result of `unregisterPushSubscription`.",
})
export class UnregisterPushSubscriptionPayload {
  @Field(() => ID, {
    nullable: true,
    description: "ID of the removed registration. Null if the mutation was refused.",
  })
  deletedId!: string | null;

  @Field(() => [UserError], { description: "Why the mutation was refused. Empty on success." })
  userErrors!: UserError[];
}
