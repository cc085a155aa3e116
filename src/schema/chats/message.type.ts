/** Messages, said and waiting to be said. */
import { Field, Int, ObjectType } from "type-graphql";
import type { FinishReason } from "../../domain/chats/finish-reasons.js";
import type { MessageRole, ReasoningEffort } from "../../domain/chats/message-parts.js";
import { connectionType } from "../common/connection.js";
import { FinishReasonEnum, MessageRoleEnum, ReasoningEffortEnum } from "../common/enums.js";
import { type MessagePart, MessagePartUnion } from "./message-part.union.js";
import { Node } from "../common/node.interface.js";
import { DateTimeScalar } from "../scalars/date-time.js";
import { MicrosScalar } from "../scalars/micros.js";

@ObjectType("TokenUsage", { simpleResolvers: true, description: "What one model call used." })
export class TokenUsage {
  @Field(() => Int, { description: "Input tokens, without cache reads and writes." })
  inputTokens!: number;

  @Field(() => Int, { description: "Output tokens, reasoning included." })
  outputTokens!: number;

  @Field(() => Int, { description: "The part of the output that was reasoning." })
  reasoningTokens!: number;

  @Field(() => Int, { description: "Input tokens that came from the vendor's cache." })
  cacheReadTokens!: number;

  @Field(() => Int, { description: "Input tokens that went into the vendor's cache." })
  cacheWriteTokens!: number;

  @Field(() => Boolean, {
    description:
      "True when some of it is estimated from the text: the vendor reported nothing usable, or the call ended before it could.",
  })
  isEstimated!: boolean;
}

@ObjectType("ChatMessage", {
  implements: Node,
  simpleResolvers: true,
  description: "A message in a chat's history.",
})
export class ChatMessage implements Node {
  readonly __typename!: "ChatMessage";

  id!: string;

  /** Database ids of what resolvers link to. */
  chatId!: string;
  authorId!: string | null;
  modelConfigId!: string | null;

  @Field(() => MessageRoleEnum, { description: "Who speaks." })
  role!: MessageRole;

  @Field(() => [MessagePartUnion], { description: "What is said, in order." })
  parts!: MessagePart[];

  @Field(() => TokenUsage, {
    nullable: true,
    description: "What the model call used; null for messages that no model wrote.",
  })
  usage!: TokenUsage | null;

  @Field(() => FinishReasonEnum, {
    nullable: true,
    description:
      "Why the model ended this answer; null when it was stopped, when no model wrote the message, and in messages from before this field.",
  })
  finishReason!: FinishReason | null;

  @Field(() => MicrosScalar, { nullable: true, description: "What the model call cost; null when unpriced." })
  costMicros!: string | null;

  @Field(() => Int, {
    nullable: true,
    description: "Wall time of the whole step in milliseconds: model stream, tools and retries.",
  })
  runtimeMs!: number | null;

  @Field(() => ReasoningEffortEnum, { nullable: true, description: "The effort that was asked for." })
  reasoningEffort!: ReasoningEffort | null;

  @Field(() => Boolean, {
    description: "True when an older part of the talk was folded into this summary.",
  })
  isSummary!: boolean;

  @Field(() => DateTimeScalar, { description: "When it was saved." })
  createdAt!: number;
}

export const ChatMessageConnection = connectionType(ChatMessage, "ChatMessage");

@ObjectType("QueuedMessage", {
  implements: Node,
  simpleResolvers: true,
  description: "A message that waits to be said.",
})
export class QueuedMessage implements Node {
  readonly __typename!: "QueuedMessage";

  id!: string;

  /** Database ids of what resolvers link to, and its own. */
  queuedId!: string;
  authorId!: string;
  modelConfigId!: string | null;

  @Field(() => [MessagePartUnion], {
    description:
      "What will be said, in order, as far as a list needs it: at most the first 2,048 bytes (UTF-8) of its text, and all files. `isCut` says whether that is all of it; `fullParts` has the whole.",
  })
  parts!: MessagePart[];

  @Field(() => Boolean, { description: "Whether there is more than `parts`." })
  isCut!: boolean;

  @Field(() => DateTimeScalar, { description: "When it joined the queue." })
  createdAt!: number;
}
