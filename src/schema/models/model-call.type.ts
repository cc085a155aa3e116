/** What models were asked and answered, for admins who look for the reason of something. */
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
  "What a model was asked for. May grow: show what you do not know as it is.",
  {
    step: "The next message of a turn.",
    compaction: "A summary of what was said.",
    title: "The chat's name.",
  },
);

export const ModelCallOutcomeEnum = describeEnum<StepOutcome>("ModelCallOutcome", "How a model call ended.", {
  completed: "The model said all that it wanted to say.",
  failed: "The vendor refused it, or it broke off.",
  stopped: "Somebody stopped the turn, or the server ended.",
});

@ObjectType("ModelCallRecord", {
  simpleResolvers: true,
  description:
    "One attempt at a model call, in Parley's words and not the vendor's. Recorded only where the operator has switched it on, and kept for some days.",
})
export class ModelCallRecord {
  @Field(() => ModelCallPurposeEnum, { description: "What it was for." })
  purpose!: ModelCallPurpose;

  @Field(() => String, {
    nullable: true,
    description: "The generation whose message was asked for, as its pieces have it; null for titles.",
  })
  generation!: string | null;

  @Field(() => Int, { description: "1 for the first attempt at that message." })
  attempt!: number;

  @Field(() => ModelProviderKindEnum, { description: "Whose wire format was spoken." })
  provider!: ModelProviderKind;

  @Field(() => String, { description: "The model, as its vendor calls it." })
  model!: string;

  @Field(() => DateTimeScalar, { description: "When the model was asked." })
  startedAt!: Date;

  @Field(() => Int, {
    nullable: true,
    description:
      "Milliseconds until the first piece of its answer; null when there was none, and for titles.",
  })
  firstPartMs!: number | null;

  @Field(() => Int, { description: "Milliseconds until its end." })
  durationMs!: number;

  @Field(() => ModelCallOutcomeEnum, { description: "How it ended." })
  outcome!: StepOutcome;

  @Field(() => JsonScalar, {
    description:
      "System prompt, messages, tools and options. Keys and headers are never recorded, of files only how many bytes they have.",
  })
  request!: JsonObject;

  @Field(() => JsonScalar, {
    description: "What came: parts, tokens used, and why it finished or failed.",
  })
  response!: JsonObject;

  @Field(() => Boolean, {
    description: "Whether parts of the request or response were too large and were left out.",
  })
  isCut!: boolean;
}

export const ModelCallRecordConnection = connectionType(ModelCallRecord, "ModelCallRecord");
