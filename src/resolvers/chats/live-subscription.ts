/** `@Subscription` for a field whose source declares which subscribers share results and who may keep reading. */
import { Subscription } from "type-graphql";
import type { SubscriptionSource } from "../../domain/common/subscription-source.js";
import type { Context } from "../common/context.js";

export type Opening<Args> = { args: Args; context: Context };

type LiveSubscriptionOptions<Args, Event extends object> = {
  description: string;
  /** Rejects with a GraphQL error if the viewer may not subscribe. */
  subscribe(opening: Opening<Args>): Promise<SubscriptionSource<Event, Context>>;
};

/** The only way to declare a subscription: the HTTP layer rejects any other source. */
export function LiveSubscription<Args, Event extends object>(
  type: () => object,
  { description, subscribe }: LiveSubscriptionOptions<Args, Event>,
): MethodDecorator {
  return Subscription(type, {
    description,
    subscribe: ({ args, context }) => subscribe({ args: args as Args, context: context as Context }),
  });
}
