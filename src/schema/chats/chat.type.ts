/** Chats. */
import { Field, ObjectType } from "type-graphql";
import type { ChatStatus } from "../../domain/chats/chat-state.js";
import type { SubagentKind } from "../../domain/chats/subagents.js";
import { connectionType } from "../common/connection.js";
import { ChatStatusEnum, SubagentKindEnum } from "../common/enums.js";
import { ChatFailure, RetryState } from "./failure.type.js";
import { ToolCallPart } from "./message-part.union.js";
import { Node } from "../common/node.interface.js";
import { DateTimeScalar } from "../scalars/date-time.js";

@ObjectType("ChatLabel", {
  simpleResolvers: true,
  description: "A key-value pair that a client attached to a chat.",
})
export class ChatLabel {
  @Field(() => String, { description: "The label's key. Unique within the chat." })
  key!: string;

  @Field(() => String, { description: "The label's value. May be empty." })
  value!: string;
}

@ObjectType("Chat", {
  implements: Node,
  simpleResolvers: true,
  description: "A conversation between a user and a coding agent, and the work that results from it.",
})
export class Chat implements Node {
  readonly __typename!: "Chat";

  id!: string;

  /** Database IDs of linked objects. */
  chatId!: string;
  ownerId!: string;
  workspaceId!: string | null;
  modelConfigId!: string | null;
  mcpServerIds!: string[];
  parentChatId!: string | null;
  rootChatId!: string;

  @Field(() => String, { description: "The chat's title." })
  title!: string;

  @Field(() => ChatStatusEnum, { description: "The chat's status." })
  status!: ChatStatus;

  @Field(() => ChatFailure, {
    nullable: true,
    description: "Why the last turn failed. Null once the chat continues.",
  })
  lastError!: ChatFailure | null;

  @Field(() => [ToolCallPart], {
    description:
      "Tool calls the client must answer with `submitToolResults`. Empty unless the status is REQUIRES_ACTION.",
  })
  pendingToolCalls!: ToolCallPart[];

  @Field(() => RetryState, {
    nullable: true,
    description: "The pending retry of a failed model call. Null if no retry is scheduled.",
  })
  retry!: RetryState | null;

  @Field(() => SubagentKindEnum, {
    nullable: true,
    description: "What the chat may do as a subagent. Null if a user started it.",
  })
  subagentKind!: SubagentKind | null;

  @Field(() => [ChatLabel], { description: "The chat's labels, sorted by key." })
  labels!: ChatLabel[];

  @Field(() => DateTimeScalar, {
    nullable: true,
    description: "When the chat was archived. Null if it is not archived.",
  })
  archivedAt!: number | null;

  @Field(() => DateTimeScalar, { description: "When the chat was created." })
  createdAt!: number;

  @Field(() => DateTimeScalar, { description: "When the chat was last changed." })
  updatedAt!: number;

  @Field(() => String, {
    description:
      "Current position in the event log. Query it together with `messages`, then pass it to `chatEvents(after:)`.",
  })
  eventCursor!: string;
}

export const ChatConnection = connectionType(Chat, "Chat");
