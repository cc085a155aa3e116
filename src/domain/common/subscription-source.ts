/**
 * The source of a subscription: its events and its two privacy rules. A resolver cannot open a subscription without the
 * rules, and the server executes no event of a source that does not declare them.
 */

/**
 * Which subscribers may share one execution of an event.
 * - `every_subscriber`: all that have the same selection set. Such an event is executed without a context, so its result
 *   cannot depend on the viewer: a field that needs one fails.
 * - `same_viewer`: only subscriptions of the same user in the same role.
 */
export type Audience = "every_subscriber" | "same_viewer";

type SubscriptionRules<Event extends object, Context> = {
  audienceOf(event: Event): Audience;
  /**
   * Whether the subscriber may continue. Called every minute and whenever permissions change, with a current context;
   * false ends the subscription with FORBIDDEN. May reject, which does not end it.
   */
  mayContinue(context: Context): Promise<boolean>;
};

/** Delegates to `events`; returning from the source returns from them. */
export class SubscriptionSource<Event extends object, Context> implements AsyncIterableIterator<Event> {
  constructor(
    private readonly events: AsyncIterableIterator<Event>,
    private readonly rules: SubscriptionRules<Event, Context>,
  ) {}

  next(): Promise<IteratorResult<Event>> {
    return this.events.next();
  }

  async return(): Promise<IteratorResult<Event>> {
    await this.events.return?.();
    return { value: undefined, done: true };
  }

  audienceOf(event: Event): Audience {
    return this.rules.audienceOf(event);
  }

  mayContinue(context: Context): Promise<boolean> {
    return this.rules.mayContinue(context);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
