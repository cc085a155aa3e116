/** Inputs of the mutations on chats. Absent and null mean the same in all of them: the default, or no change. */
import { Field, ID, InputType, Int } from "type-graphql";
import type { ChatStatus } from "../../domain/chats/chat-state.js";
import type { JsonObject, JsonValue } from "../../domain/common/json.js";
import type { ReasoningEffort } from "../../domain/chats/message-parts.js";
import { ChatStatusEnum, ReasoningEffortEnum, type WhenBusy, WhenBusyEnum } from "../common/enums.js";
import { JsonScalar } from "../scalars/json.js";

const CHAT_ID = "The chat.";
const PARTS = "The message's content: 1 to 100 parts with at most 1,000,000 Unicode characters in total.";
const MODEL = "The model to use from now on. If absent, it does not change.";
const EFFORT = "The reasoning effort to request from the model. If absent, it does not change.";
const MCP_NEW =
  "The MCP servers available to the chat's turns, at most 50. Defaults to those that are on by default. Servers that are always on need not be listed.";
const MCP =
  "The MCP servers available to the chat from now on, at most 50. If absent, they do not change. Servers that are always on need not be listed.";
const KEY =
  "A key that makes the mutation idempotent: repeating it with the same key returns the first result. Scoped to the user.";

@InputType("TextPartInput", { description: "Markdown text." })
export class TextPartInput {
  @Field(() => String, { description: "The text. Must not be blank." })
  text!: string;
}

@InputType("FilePartInput", {
  description: "A file uploaded by the viewer, or one that is already in the chat.",
})
export class FilePartInput {
  @Field(() => ID, {
    description:
      "The ID returned by `createFileUpload`, after the upload. A file belongs to one chat; upload it again for another.",
  })
  fileId!: string;
}

@InputType("FileReferencePartInput", {
  description: "A reference to lines of a file in the workspace, with their current content.",
})
export class FileReferencePartInput {
  @Field(() => String, { description: "The file's path in the workspace." })
  path!: string;

  @Field(() => Int, { description: "The first line, counted from 1." })
  startLine!: number;

  @Field(() => Int, { description: "The last line, inclusive." })
  endLine!: number;

  @Field(() => String, { description: "The content of the lines." })
  content!: string;
}

@InputType("MessagePartInput", { description: "A part of a message: exactly one field." })
export class MessagePartInput {
  @Field(() => TextPartInput, { nullable: true, description: "Text." })
  text?: TextPartInput;

  @Field(() => FilePartInput, { nullable: true, description: "A file. At most 20 in one message." })
  file?: FilePartInput;

  @Field(() => FileReferencePartInput, { nullable: true, description: "Lines of a file in the workspace." })
  fileReference?: FileReferencePartInput;
}

@InputType("ChatLabelInput", { description: "A label to attach to a chat." })
export class ChatLabelInput {
  @Field(() => String, { description: "The label's key: 1 to 64 characters, unique within the chat." })
  key!: string;

  @Field(() => String, { description: "The label's value: at most 256 characters, may be empty." })
  value!: string;
}

@InputType("ClientToolInput", {
  description: "A tool that is run by the client. The turn waits for its result.",
})
export class ClientToolInput {
  @Field(() => String, {
    description: "The tool's name: 1 to 64 letters, digits, `_` or `-`; unique within the chat.",
  })
  name!: string;

  @Field(() => String, { description: "Tells the model what the tool does and when to use it." })
  description!: string;

  @Field(() => JsonScalar, { description: "JSON Schema of the tool's arguments. Must be of type `object`." })
  inputSchema!: JsonObject;

  @Field(() => Int, {
    nullable: true,
    description:
      "How long the client has to answer a call, in milliseconds: 1,000 or more; 0 for no limit. Defaults to the deployment's limit, which is five minutes unless configured otherwise. For calls that are pending at the same time, the longest limit applies, as they are answered together.",
  })
  timeoutMs?: number | null;
}

@InputType("CreateChatInput", { description: "Input of `createChat`." })
export class CreateChatInput {
  @Field(() => [MessagePartInput], { description: PARTS })
  parts!: MessagePartInput[];

  @Field(() => ID, {
    nullable: true,
    description:
      "The workspace the agent works in. Defaults to the deployment's own directory if it belongs to the viewer. Null for no workspace.",
  })
  workspaceId?: string | null;

  @Field(() => ID, { nullable: true, description: "The model to use. Defaults to the deployment's default." })
  modelConfigId?: string | null;

  @Field(() => String, {
    nullable: true,
    description: "The chat's title: at most 200 characters. Defaults to one generated from the message.",
  })
  title?: string | null;

  @Field(() => [ChatLabelInput], { nullable: true, description: "Labels of the chat. At most 50." })
  labels?: ChatLabelInput[] | null;

  @Field(() => [ClientToolInput], { nullable: true, description: "Tools run by the client. At most 250." })
  clientTools?: ClientToolInput[] | null;

  @Field(() => ReasoningEffortEnum, {
    nullable: true,
    description: "The reasoning effort to request from the model.",
  })
  reasoningEffort?: ReasoningEffort | null;

  @Field(() => [ID], { nullable: true, description: MCP_NEW })
  mcpServerIds?: string[] | null;

  @Field(() => String, { nullable: true, description: KEY })
  idempotencyKey?: string | null;
}

@InputType("SendChatMessageInput", { description: "Input of `sendChatMessage`." })
export class SendChatMessageInput {
  @Field(() => ID, { description: CHAT_ID })
  chatId!: string;

  @Field(() => [MessagePartInput], { description: PARTS })
  parts!: MessagePartInput[];

  @Field(() => WhenBusyEnum, {
    nullable: true,
    defaultValue: "queue",
    description: "What to do if the chat is busy.",
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
  description: "Input of `editChatMessage`.",
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

@InputType("PromoteQueuedMessageInput", { description: "Input of `promoteQueuedMessage`." })
export class PromoteQueuedMessageInput {
  @Field(() => ID, { description: "The queued message." })
  queuedMessageId!: string;
}

@InputType("DeleteQueuedMessageInput", { description: "Input of `deleteQueuedMessage`." })
export class DeleteQueuedMessageInput {
  @Field(() => ID, { description: "The queued message." })
  queuedMessageId!: string;
}

@InputType("InterruptChatInput", { description: "Input of `interruptChat`." })
export class InterruptChatInput {
  @Field(() => ID, { description: CHAT_ID })
  chatId!: string;
}

@InputType("RetryChatInput", { description: "Input of `retryChat`." })
export class RetryChatInput {
  @Field(() => ID, { description: CHAT_ID })
  chatId!: string;
}

@InputType("ArchiveChatInput", { description: "Input of `archiveChat`." })
export class ArchiveChatInput {
  @Field(() => ID, { description: CHAT_ID })
  chatId!: string;
}

@InputType("UnarchiveChatInput", { description: "Input of `unarchiveChat`." })
export class UnarchiveChatInput {
  @Field(() => ID, { description: CHAT_ID })
  chatId!: string;
}

@InputType("ToolResultInput", { description: "The result of a tool run by the client." })
export class ToolResultInput {
  @Field(() => ID, { description: "ID of the tool call." })
  toolCallId!: string;

  @Field(() => JsonScalar, {
    description:
      "The result as any JSON value, passed to the model unchanged. At most 1,000,000 characters of JSON for all results together.",
  })
  result!: JsonValue;

  @Field(() => Boolean, { nullable: true, defaultValue: false, description: "Whether the tool failed." })
  isError?: boolean | null;
}

@InputType("SubmitToolResultsInput", {
  description: "Input of `submitToolResults`.",
})
export class SubmitToolResultsInput {
  @Field(() => ID, { description: CHAT_ID })
  chatId!: string;

  @Field(() => [ToolResultInput], { description: "Exactly one result for each pending call, in any order." })
  results!: ToolResultInput[];
}

@InputType("ChatFilterInput", { description: "Filters for chats. All given filters must match." })
export class ChatFilterInput {
  @Field(() => Boolean, {
    nullable: true,
    defaultValue: false,
    description: "Whether to list archived chats (true) or the others (false). Null lists both.",
  })
  archived?: boolean | null;

  @Field(() => String, {
    nullable: true,
    description: "Only chats whose title contains this text, ignoring case.",
  })
  search?: string | null;

  @Field(() => ID, {
    nullable: true,
    description:
      "Only chats of this user. Defaults to the viewer. Other users' chats are returned to admins only.",
  })
  ownerId?: string | null;

  @Field(() => ID, { nullable: true, description: "Only chats attached to this workspace." })
  workspaceId?: string | null;

  @Field(() => [ChatStatusEnum], { nullable: true, description: "Only chats with one of these statuses." })
  statuses?: ChatStatus[] | null;

  @Field(() => Boolean, {
    nullable: true,
    defaultValue: false,
    description: "Whether to include chats started by agents as subagents.",
  })
  includeSubagents?: boolean | null;

  @Field(() => [ChatLabelInput], { nullable: true, description: "Only chats with all of these labels." })
  labels?: ChatLabelInput[] | null;

  @Field(() => Boolean, {
    nullable: true,
    description: "Only chats with (true) or without (false) a response that their owner has not seen.",
  })
  isUnread?: boolean | null;
}
