/** `@Subscription` for a field whose source declares who may share its answers and who may go on reading. */
import { Subscription } from "type-graphql";
import type { SubscriptionSource } from "../../domain/common/subscription-source.js";
import type { Context } from "../common/context.js";

export type Opening<Args> = { args: Args; context: Context };

type LiveSubscriptionOptions<Args, Event extends object> = {
  description: string;
  /** Rejects, with a typed error, when the viewer may not subscribe. */
  subscribe(opening: Opening<Args>): Promise<SubscriptionSource<Event, Context>>;
};

/** The one way to declare a subscription: the HTTP layer refuses any other source. */
export function LiveSubscription<Args, Event extends object>(
  type: () => object,
  { description, subscribe }: LiveSubscriptionOptions<Args, Event>,
): MethodDecorator {
  return Subscription(type, {
    description,
    subscribe: ({ args, context }) => subscribe({ args: args as Args, context: context as Context }),
  });
}
