/** Recorded model calls, for admins who debug a chat. */
import { Field, Int, ObjectType } from "type-graphql";
import type { ModelProviderKind } from "../../domain/common/failures.js";
import type { JsonObject } from "../../domain/common/json.js";
import type { StepOutcome } from "../../domain/common/meters.js";
import type { ModelCallPurpose } from "../../domain/models/model-calls.js";
import { connectionType } from "../common/connection.js";
import { describeEnum, ModelProviderKindEnum } from "../common/enums.js";
import { DateTimeScalar } from "../scalars/date-time.js";
import { JsonScalar } from "../scalars/json.js";

export const ModelCallPurposeEnum = describeEnum<ModelCallPurpose>(
  "ModelCallPurpose",
  "What a model was called for. New values may be added: show unknown ones as they are.",
  {
    step: "The next message of a turn.",
    compaction: "A summary of the chat's history.",
    title: "The chat's title.",
  },
);

export const ModelCallOutcomeEnum = describeEnum<StepOutcome>("ModelCallOutcome", "How a model call ended.", {
  completed: "The model finished its response.",
  failed: "The vendor rejected the call, or the response broke off.",
  stopped: "The turn was interrupted, or the server shut down.",
});

@ObjectType("ModelCallRecord", {
  simpleResolvers: true,
  description:
    "A record of one attempt at a model call, in Parley's own format. Calls are only recorded if the operator enables it, and records are deleted after some days.",
})
export class ModelCallRecord {
  @Field(() => ModelCallPurposeEnum, { description: "What the model was called for." })
  purpose!: ModelCallPurpose;

  @Field(() => String, {
    nullable: true,
    description: "ID of the generation the call belongs to, as in its deltas. Null for titles.",
  })
  generation!: string | null;

  @Field(() => Int, { description: "The number of the attempt at this message, counted from 1." })
  attempt!: number;

  @Field(() => ModelProviderKindEnum, { description: "The wire format that was used." })
  provider!: ModelProviderKind;

  @Field(() => String, { description: "The vendor's ID of the model." })
  model!: string;

  @Field(() => DateTimeScalar, { description: "When the call started." })
  startedAt!: Date;

  @Field(() => Int, {
    nullable: true,
    description:
      "Time until the first part of the response arrived, in milliseconds. Null if there was none, and for titles.",
  })
  firstPartMs!: number | null;

  @Field(() => Int, { description: "Duration of the call in milliseconds." })
  durationMs!: number;

  @Field(() => ModelCallOutcomeEnum, { description: "How the call ended." })
  outcome!: StepOutcome;

  @Field(() => JsonScalar, {
    description:
      "System prompt, messages, tools and options. Never contains keys or headers; files are represented by their size in bytes.",
  })
  request!: JsonObject;

  @Field(() => JsonScalar, {
    description: "The response: parts, token usage, and why it finished or failed.",
  })
  response!: JsonObject;

  @Field(() => Boolean, {
    description: "Whether parts of the request or response were omitted because they were too large.",
  })
  isTruncated!: boolean;
}

export const ModelCallRecordConnection = connectionType(ModelCallRecord, "ModelCallRecord");
