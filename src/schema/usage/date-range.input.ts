/** A stretch of time. */
import { Field, InputType } from "type-graphql";
import { DateTimeScalar } from "../scalars/date-time.js";

@InputType("DateRangeInput", { description: "From an instant, included, to a later one, not included." })
export class DateRangeInput {
  /** Milliseconds since the epoch. */
  @Field(() => DateTimeScalar, { description: "The first instant in it." })
  from!: number;

  /** Milliseconds since the epoch. */
  @Field(() => DateTimeScalar, { description: "The first instant after it; later than `from`." })
  to!: number;
}
