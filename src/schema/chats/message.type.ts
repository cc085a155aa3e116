/** Messages in a chat's history, and queued ones. */
import { Field, Int, ObjectType } from "type-graphql";
import type { FinishReason } from "../../domain/chats/finish-reasons.js";
import type { MessageRole, ReasoningEffort } from "../../domain/chats/message-parts.js";
import { connectionType } from "../common/connection.js";
import { FinishReasonEnum, MessageRoleEnum, ReasoningEffortEnum } from "../common/enums.js";
import { type MessagePart, MessagePartUnion } from "./message-part.union.js";
import { Node } from "../common/node.interface.js";
import { DateTimeScalar } from "../scalars/date-time.js";
import { MicrosScalar } from "../scalars/micros.js";

@ObjectType("TokenUsage", { simpleResolvers: true, description: "Tokens used by one model call." })
export class TokenUsage {
  @Field(() => Int, { description: "Input tokens, excluding cache reads and writes." })
  inputTokens!: number;

  @Field(() => Int, { description: "Output tokens, including reasoning." })
  outputTokens!: number;

  @Field(() => Int, { description: "The share of the output tokens used for reasoning." })
  reasoningTokens!: number;

  @Field(() => Int, { description: "Input tokens read from the vendor's cache." })
  cacheReadTokens!: number;

  @Field(() => Int, { description: "Input tokens written to the vendor's cache." })
  cacheWriteTokens!: number;

  @Field(() => Boolean, {
    description:
      "Whether some numbers were estimated from the text because the vendor did not report them or the call ended early.",
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

  /** Database IDs of linked objects. */
  chatId!: string;
  authorId!: string | null;
  modelConfigId!: string | null;

  @Field(() => MessageRoleEnum, { description: "The message's role." })
  role!: MessageRole;

  @Field(() => [MessagePartUnion], { description: "The message's content, in order." })
  parts!: MessagePart[];

  @Field(() => TokenUsage, {
    nullable: true,
    description: "Tokens used by the model call. Null if no model wrote the message.",
  })
  usage!: TokenUsage | null;

  @Field(() => FinishReasonEnum, {
    nullable: true,
    description:
      "Why the model stopped generating. Null if the turn was interrupted, if no model wrote the message, and for messages saved before this field was added.",
  })
  finishReason!: FinishReason | null;

  @Field(() => MicrosScalar, {
    nullable: true,
    description: "Cost of the model call. Null if the model has no price.",
  })
  costMicros!: string | null;

  @Field(() => Int, {
    nullable: true,
    description:
      "Wall-clock time of the whole step in milliseconds, including model stream, tools and retries.",
  })
  runtimeMs!: number | null;

  @Field(() => ReasoningEffortEnum, {
    nullable: true,
    description: "The reasoning effort that was requested.",
  })
  reasoningEffort!: ReasoningEffort | null;

  @Field(() => Boolean, {
    description: "Whether the message is a summary that replaces an older part of the history.",
  })
  isSummary!: boolean;

  @Field(() => DateTimeScalar, { description: "When the message was saved." })
  createdAt!: number;
}

export const ChatMessageConnection = connectionType(ChatMessage, "ChatMessage");

@ObjectType("QueuedMessage", {
  implements: Node,
  simpleResolvers: true,
  description: "A message waiting in a chat's queue.",
})
export class QueuedMessage implements Node {
  readonly __typename!: "QueuedMessage";

  id!: string;

  /** Database IDs of the message and of linked objects. */
  queuedId!: string;
  authorId!: string;
  modelConfigId!: string | null;

  @Field(() => [MessagePartUnion], {
    description:
      "The content in order, shortened for display: at most the first 2,048 bytes (UTF-8) of its text, and all files. `isTruncated` tells whether there is more; `fullParts` has everything.",
  })
  parts!: MessagePart[];

  @Field(() => Boolean, { description: "Whether `parts` is incomplete." })
  isTruncated!: boolean;

  @Field(() => DateTimeScalar, { description: "When the message was added to the queue." })
  createdAt!: number;
}
