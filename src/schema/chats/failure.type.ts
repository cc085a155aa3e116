/** Failures that people may read, and the waits that follow them. */
import { Field, Int, ObjectType } from "type-graphql";
import type { FailureKind, ModelProviderKind } from "../../domain/common/failures.js";
import { FailureKindEnum, ModelProviderKindEnum } from "../common/enums.js";
import { DateTimeScalar } from "../scalars/date-time.js";

@ObjectType("ChatFailure", { simpleResolvers: true, description: "Why a turn or an attempt failed." })
export class ChatFailure {
  @Field(() => FailureKindEnum, { description: "What kind of failure." })
  kind!: FailureKind;

  @Field(() => String, {
    description:
      "Sentences for people, at most 1,000 characters: what happened, what to look at, and the vendor's own sentence where it may be shown, without keys and without what was sent.",
  })
  message!: string;

  @Field(() => String, { nullable: true, description: "The vendor's own words, shortened." })
  detail!: string | null;

  @Field(() => ModelProviderKindEnum, { nullable: true, description: "Whose model failed." })
  provider!: ModelProviderKind | null;

  @Field(() => Boolean, { description: "Whether the same request may succeed later." })
  isRetryable!: boolean;

  @Field(() => Int, { nullable: true, description: "The vendor's HTTP status, if it answered at all." })
  httpStatus!: number | null;
}

@ObjectType("RetryState", {
  simpleResolvers: true,
  description: "The worker waits before it tries the model again.",
})
export class RetryState {
  @Field(() => Int, { description: "The attempt that failed, counted from 1." })
  attempt!: number;

  @Field(() => Int, { description: "The whole wait in milliseconds." })
  delayMs!: number;

  @Field(() => DateTimeScalar, { description: "When the next attempt begins." })
  retryingAt!: number;

  @Field(() => ChatFailure, { description: "Why the attempt failed." })
  failure!: ChatFailure;
}
