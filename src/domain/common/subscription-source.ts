/**
 * The source of a subscription: its events, and the two decisions that privacy hangs on. A resolver cannot open a
 * subscription without them, and the server executes no event of a source that does not declare them.
 */

/**
 * Which subscribers one execution of an event may answer.
 * - `every_subscriber`: all who select the same of it. Such an event is executed without a context, so its answer
 *   cannot depend on the viewer: a field that asks for one fails.
 * - `same_viewer`: only subscriptions of the same user in the same role.
 */
export type Audience = "every_subscriber" | "same_viewer";

export type SubscriptionRules<Event extends object, Context> = {
  audienceOf(event: Event): Audience;
  /**
   * Whether the subscriber may go on reading. Asked every minute and whenever rights change, with a context of that
   * moment; false ends the subscription with FORBIDDEN. May reject: not knowing is no reason to end it.
   */
  mayContinue(context: Context): Promise<boolean>;
};

/** Hands every call on to `events`; ending the source ends them. */
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
