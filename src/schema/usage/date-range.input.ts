/** A time range. */
import { Field, InputType } from "type-graphql";
import { DateTimeScalar } from "../scalars/date-time.js";

@InputType("DateRangeInput", { description: "A half-open time range: `from` is included, `to` is not." })
export class DateRangeInput {
  /** Milliseconds since the epoch. */
  @Field(() => DateTimeScalar, { description: "Start of the range, inclusive." })
  from!: number;

  /** Milliseconds since the epoch. */
  @Field(() => DateTimeScalar, { description: "End of the range, exclusive. Must be later than `from`." })
  to!: number;
}
