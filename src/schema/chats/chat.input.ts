/** What the mutations on chats take. Absent and null mean the same in all of them: the default, or no choice. */
import { Field, ID, InputType, Int } from "type-graphql";
import type { ChatStatus } from "../../domain/chats/chat-state.js";
import type { JsonObject, JsonValue } from "../../domain/common/json.js";
import type { ReasoningEffort } from "../../domain/chats/message-parts.js";
import { ChatStatusEnum, ReasoningEffortEnum, type WhenBusy, WhenBusyEnum } from "../common/enums.js";
import { JsonScalar } from "../scalars/json.js";

const CHAT_ID = "The chat.";
const PARTS =
  "What is said: at least one part, at most 100, together at most 1,000,000 Unicode characters of any script.";
const MODEL = "Ask this model from now on; absent keeps the chat's choice.";
const EFFORT = "How hard the model should think; absent keeps the chat's choice.";
const MCP_NEW =
  "The tool servers that its turns use, at most 50; absent = those that are on by default. Those that are on in every turn need not be named.";
const MCP =
  "The chat's tool servers from now on, at most 50; absent keeps the chat's choice. Those that are on in every turn need not be named.";
const KEY = "Same key from the same person returns the first result again.";

@InputType("TextPartInput", { description: "Text, as Markdown." })
export class TextPartInput {
  @Field(() => String, { description: "Not blank." })
  text!: string;
}

@InputType("FilePartInput", {
  description: "A file of the viewer's own, or one that is in the chat already.",
})
export class FilePartInput {
  @Field(() => ID, {
    description:
      "From `createFileUpload`, once its bytes have come. A file is in one chat: others need one of their own.",
  })
  fileId!: string;
}

@InputType("FileReferencePartInput", {
  description: "A pointer into a file in the workspace, with the lines as they are now.",
})
export class FileReferencePartInput {
  @Field(() => String, { description: "The file's path in the workspace." })
  path!: string;

  @Field(() => Int, { description: "The first line, counted from 1." })
  startLine!: number;

  @Field(() => Int, { description: "The last line, included." })
  endLine!: number;

  @Field(() => String, { description: "The lines themselves." })
  content!: string;
}

@InputType("MessagePartInput", { description: "Exactly one field." })
export class MessagePartInput {
  @Field(() => TextPartInput, { nullable: true, description: "Text." })
  text?: TextPartInput;

  @Field(() => FilePartInput, { nullable: true, description: "A file; at most 20 in one message." })
  file?: FilePartInput;

  @Field(() => FileReferencePartInput, { nullable: true, description: "Lines of a file." })
  fileReference?: FileReferencePartInput;
}

@InputType("ChatLabelInput", { description: "A word to tie to a chat." })
export class ChatLabelInput {
  @Field(() => String, { description: "1 to 64 characters, unique within the chat." })
  key!: string;

  @Field(() => String, { description: "At most 256 characters; may be empty." })
  value!: string;
}

@InputType("ClientToolInput", {
  description: "A tool that the client itself runs; the turn waits for its result.",
})
export class ClientToolInput {
  @Field(() => String, { description: "1 to 64 letters, digits, `_` or `-`; unique within the chat." })
  name!: string;

  @Field(() => String, { description: "Tells the model what the tool does and when to use it." })
  description!: string;

  @Field(() => JsonScalar, { description: "A JSON Schema of type object." })
  inputSchema!: JsonObject;

  @Field(() => Int, {
    nullable: true,
    description:
      "Milliseconds that the client has to answer a call, 1,000 or more; 0 = any time; absent = the deployment's limit, five minutes unless it says otherwise. Of calls that wait together the longest limit counts, as they are answered together.",
  })
  timeoutMs?: number | null;
}

@InputType("CreateChatInput", { description: "A new chat and the first thing said in it." })
export class CreateChatInput {
  @Field(() => [MessagePartInput], { description: PARTS })
  parts!: MessagePartInput[];

  @Field(() => ID, {
    nullable: true,
    description:
      "Where the agent works. Absent = the deployment's own directory if the viewer owns it; null = nowhere.",
  })
  workspaceId?: string | null;

  @Field(() => ID, { nullable: true, description: "The model to ask; absent = the deployment's default." })
  modelConfigId?: string | null;

  @Field(() => String, {
    nullable: true,
    description: "At most 200 characters; absent = made from the message.",
  })
  title?: string | null;

  @Field(() => [ChatLabelInput], { nullable: true, description: "At most 50." })
  labels?: ChatLabelInput[] | null;

  @Field(() => [ClientToolInput], { nullable: true, description: "At most 250." })
  clientTools?: ClientToolInput[] | null;

  @Field(() => ReasoningEffortEnum, { nullable: true, description: "How hard the model should think." })
  reasoningEffort?: ReasoningEffort | null;

  @Field(() => [ID], { nullable: true, description: MCP_NEW })
  mcpServerIds?: string[] | null;

  @Field(() => String, { nullable: true, description: KEY })
  idempotencyKey?: string | null;
}

@InputType("SendChatMessageInput", { description: "Something to say in a chat." })
export class SendChatMessageInput {
  @Field(() => ID, { description: CHAT_ID })
  chatId!: string;

  @Field(() => [MessagePartInput], { description: PARTS })
  parts!: MessagePartInput[];

  @Field(() => WhenBusyEnum, {
    nullable: true,
    defaultValue: "queue",
    description: "What to do when the chat is busy.",
  })
  whenBusy?: WhenBusy | null;

  @Field(() => ID, { nullable: true, description: MODEL })
  modelConfigId?: string | null;

  @Field(() => ReasoningEffortEnum, { nullable: true, description: EFFORT })
  reasoningEffort?: ReasoningEffort | null;

  @Field(() => [ID], { nullable: true, description: MCP })
  mcpServerIds?: string[] | null;

  @Field(() => String, { nullable: true, description: KEY })
  idempotencyKey?: string | null;
}

@InputType("EditChatMessageInput", {
  description: "Says something else in place of a message of one's own; all after it is taken away.",
})
export class EditChatMessageInput {
  @Field(() => ID, { description: "The message to replace." })
  messageId!: string;

  @Field(() => [MessagePartInput], { description: PARTS })
  parts!: MessagePartInput[];

  @Field(() => ID, { nullable: true, description: MODEL })
  modelConfigId?: string | null;

  @Field(() => [ID], { nullable: true, description: MCP })
  mcpServerIds?: string[] | null;
}

@InputType("PromoteQueuedMessageInput", { description: "A waiting message to say next." })
export class PromoteQueuedMessageInput {
  @Field(() => ID, { description: "The waiting message." })
  queuedMessageId!: string;
}

@InputType("DeleteQueuedMessageInput", { description: "A waiting message to take back." })
export class DeleteQueuedMessageInput {
  @Field(() => ID, { description: "The waiting message." })
  queuedMessageId!: string;
}

@InputType("InterruptChatInput", { description: "A chat whose turn is to stop." })
export class InterruptChatInput {
  @Field(() => ID, { description: CHAT_ID })
  chatId!: string;
}

@InputType("RetryChatInput", { description: "A chat whose failed turn is to be tried again." })
export class RetryChatInput {
  @Field(() => ID, { description: CHAT_ID })
  chatId!: string;
}

@InputType("ArchiveChatInput", { description: "A chat to put away." })
export class ArchiveChatInput {
  @Field(() => ID, { description: CHAT_ID })
  chatId!: string;
}

@InputType("UnarchiveChatInput", { description: "A chat to take out of the archive." })
export class UnarchiveChatInput {
  @Field(() => ID, { description: CHAT_ID })
  chatId!: string;
}

@InputType("ToolResultInput", { description: "What the client's tool said." })
export class ToolResultInput {
  @Field(() => ID, { description: "The call that this answers." })
  toolCallId!: string;

  @Field(() => JsonScalar, {
    description:
      "Any JSON; goes to the model as it is. All results together at most 1,000,000 characters as JSON.",
  })
  result!: JsonValue;

  @Field(() => Boolean, { nullable: true, defaultValue: false, description: "Whether the tool failed." })
  isError?: boolean | null;
}

@InputType("SubmitToolResultsInput", {
  description: "One result for every pending call, no more and no fewer.",
})
export class SubmitToolResultsInput {
  @Field(() => ID, { description: CHAT_ID })
  chatId!: string;

  @Field(() => [ToolResultInput], { description: "One result for every pending call, in any order." })
  results!: ToolResultInput[];
}

@InputType("ChatFilterInput", { description: "Which chats to list; all of its conditions must hold." })
export class ChatFilterInput {
  @Field(() => Boolean, {
    nullable: true,
    defaultValue: false,
    description: "Only archived chats, or only the others; null = both.",
  })
  archived?: boolean | null;

  @Field(() => String, { nullable: true, description: "Part of the title, in any case." })
  search?: string | null;

  @Field(() => ID, {
    nullable: true,
    description: "Whose chats; absent = the viewer's own. Other people's are found for admins only.",
  })
  ownerId?: string | null;

  @Field(() => ID, { nullable: true, description: "Chats that work in this workspace." })
  workspaceId?: string | null;

  @Field(() => [ChatStatusEnum], { nullable: true, description: "Chats in one of these states." })
  statuses?: ChatStatus[] | null;

  @Field(() => Boolean, {
    nullable: true,
    defaultValue: false,
    description: "Chats that agents started as subagents as well, not only those of people.",
  })
  includeSubagents?: boolean | null;

  @Field(() => [ChatLabelInput], { nullable: true, description: "Chats with all of these labels." })
  labels?: ChatLabelInput[] | null;

  @Field(() => Boolean, {
    nullable: true,
    description: "Only chats with an answer that their owner has not seen, or only the others.",
  })
  isUnread?: boolean | null;
}
