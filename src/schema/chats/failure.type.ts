/** Failures of turns and attempts, and scheduled retries. */
import { Field, Int, ObjectType } from "type-graphql";
import type { FailureKind, ModelProviderKind } from "../../domain/common/failures.js";
import { FailureKindEnum, ModelProviderKindEnum } from "../common/enums.js";
import { DateTimeScalar } from "../scalars/date-time.js";

@ObjectType("ChatFailure", { simpleResolvers: true, description: "Why a turn or an attempt failed." })
export class ChatFailure {
  @Field(() => FailureKindEnum, { description: "The kind of failure." })
  kind!: FailureKind;

  @Field(() => String, {
    description:
      "A message to display, at most 1,000 characters: what happened, what to check, and the vendor's error message where it is safe to show. Never contains keys or parts of the request.",
  })
  message!: string;

  @Field(() => String, { nullable: true, description: "The vendor's own error message, truncated." })
  detail!: string | null;

  @Field(() => ModelProviderKindEnum, {
    nullable: true,
    description: "The provider of the model that failed.",
  })
  provider!: ModelProviderKind | null;

  @Field(() => Boolean, { description: "Whether the same request may succeed later." })
  isRetryable!: boolean;

  @Field(() => Int, {
    nullable: true,
    description: "HTTP status of the vendor's response. Null if there was no response.",
  })
  httpStatus!: number | null;
}

@ObjectType("RetryState", {
  simpleResolvers: true,
  description: "A scheduled retry of a failed model call.",
})
export class RetryState {
  @Field(() => Int, { description: "The number of the attempt that failed, counted from 1." })
  attempt!: number;

  @Field(() => Int, { description: "The total delay before the retry in milliseconds." })
  delayMs!: number;

  @Field(() => DateTimeScalar, { description: "When the next attempt starts." })
  retryingAt!: number;

  @Field(() => ChatFailure, { description: "Why the attempt failed." })
  failure!: ChatFailure;
}
