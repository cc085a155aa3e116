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

@ObjectType("ChatLabel", { simpleResolvers: true, description: "A word that a client ties to a chat." })
export class ChatLabel {
  @Field(() => String, { description: "Unique within the chat." })
  key!: string;

  @Field(() => String, { description: "May be empty." })
  value!: string;
}

@ObjectType("Chat", {
  implements: Node,
  simpleResolvers: true,
  description: "A talk between a person and an agent, and the work that comes of it.",
})
export class Chat implements Node {
  readonly __typename!: "Chat";

  id!: string;

  /** Database ids of what resolvers link to. */
  chatId!: string;
  ownerId!: string;
  workspaceId!: string | null;
  modelConfigId!: string | null;
  mcpServerIds!: string[];
  parentChatId!: string | null;
  rootChatId!: string;

  @Field(() => String, { description: "What the list shows." })
  title!: string;

  @Field(() => ChatStatusEnum, { description: "How it stands." })
  status!: ChatStatus;

  @Field(() => ChatFailure, {
    nullable: true,
    description: "Why the last turn failed; null once it goes on.",
  })
  lastError!: ChatFailure | null;

  @Field(() => [ToolCallPart], {
    description:
      "Tool calls that the client itself must answer with `submitToolResults`; empty unless the status is REQUIRES_ACTION.",
  })
  pendingToolCalls!: ToolCallPart[];

  @Field(() => RetryState, {
    nullable: true,
    description: "Set while the worker waits before trying the model again.",
  })
  retry!: RetryState | null;

  @Field(() => SubagentKindEnum, {
    nullable: true,
    description: "What it may do as a subagent; null for a chat that a person started.",
  })
  subagentKind!: SubagentKind | null;

  @Field(() => [ChatLabel], { description: "Sorted by key." })
  labels!: ChatLabel[];

  @Field(() => DateTimeScalar, { nullable: true, description: "Null unless the chat is archived." })
  archivedAt!: number | null;

  @Field(() => DateTimeScalar, { description: "When it was started." })
  createdAt!: number;

  @Field(() => DateTimeScalar, { description: "When anything in it last changed." })
  updatedAt!: number;

  @Field(() => String, {
    description:
      "Where the event log stands now. Read it in the same query as `messages`, then pass it to `chatEvents(after:)`.",
  })
  eventCursor!: string;
}

export const ChatConnection = connectionType(Chat, "Chat");
