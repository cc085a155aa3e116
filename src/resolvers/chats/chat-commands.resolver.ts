/** Mutations on chats. Resolvers validate the input's form, commands everything else. */
import { Arg, Ctx, Mutation, Resolver } from "type-graphql";
import {
  ArchiveChatInput,
  CreateChatInput,
  DeleteQueuedMessageInput,
  EditChatMessageInput,
  InterruptChatInput,
  PromoteQueuedMessageInput,
  RetryChatInput,
  SendChatMessageInput,
  SubmitToolResultsInput,
  UnarchiveChatInput,
} from "../../schema/chats/chat.input.js";
import {
  ArchiveChatPayload,
  CreateChatPayload,
  DeleteQueuedMessagePayload,
  EditChatMessagePayload,
  InterruptChatPayload,
  PromoteQueuedMessagePayload,
  RetryChatPayload,
  SendChatMessagePayload,
  SubmitToolResultsPayload,
  UnarchiveChatPayload,
} from "../../schema/chats/chat.payloads.js";
import { changed, refused } from "./chat-outcomes.js";
import type { Context } from "../common/context.js";
import {
  readClientTools,
  readIdempotencyKey,
  readLabels,
  readParts,
  readTitle,
  readToolResults,
} from "../common/inputs.js";
import { databaseId, optionalDatabaseId, optionalDatabaseIds } from "../common/public-ids.js";
import { cursorAt, toChatMessage, toQueuedMessage } from "../common/shapes.js";
import type { UserErrorObject } from "../common/user-errors.js";

/** The version before a chat's first change: everything in the chat comes after it. */
const BEFORE_CREATION = 0;

const INPUT = { description: "The parameters of the mutation." };

@Resolver()
export class ChatCommandsResolver {
  @Mutation(() => CreateChatPayload, { description: "Creates a chat with its first message." })
  async createChat(
    @Arg("input", () => CreateChatInput, INPUT) input: CreateChatInput,
    @Ctx() context: Context,
  ): Promise<CreateChatPayload> {
    const problems: UserErrorObject[] = [];
    const wanted = {
      parts: readParts(input.parts, problems),
      workspaceId:
        input.workspaceId === null ? null : optionalDatabaseId("ws", input.workspaceId, "workspaceId"),
      modelConfigId: optionalDatabaseId("model", input.modelConfigId, "modelConfigId"),
      mcpServerIds: optionalDatabaseIds("mcp", input.mcpServerIds, "mcpServerIds"),
      title: readTitle(input.title, problems),
      labels: readLabels(input.labels, problems),
      clientTools: readClientTools(input.clientTools, problems),
      reasoningEffort: input.reasoningEffort ?? undefined,
      idempotencyKey: readIdempotencyKey(input.idempotencyKey, problems),
    };
    if (problems.length > 0) return { eventCursor: null, ...refused(problems) };
    const result = await context.commands.createChat(context.viewer, wanted);
    return { eventCursor: result.ok ? cursorAt(BEFORE_CREATION) : null, ...(await changed(context, result)) };
  }

  @Mutation(() => SendChatMessagePayload, {
    description: "Sends a user message. Queued while a turn is running.",
  })
  async sendChatMessage(
    @Arg("input", () => SendChatMessageInput, INPUT) input: SendChatMessageInput,
    @Ctx() context: Context,
  ): Promise<SendChatMessagePayload> {
    const nothing = { message: null, queuedMessage: null, eventCursor: null };
    const problems: UserErrorObject[] = [];
    const wanted = {
      chatId: databaseId("chat", input.chatId, "chatId"),
      parts: readParts(input.parts, problems),
      whenBusy: input.whenBusy ?? "queue",
      modelConfigId: optionalDatabaseId("model", input.modelConfigId, "modelConfigId"),
      mcpServerIds: optionalDatabaseIds("mcp", input.mcpServerIds, "mcpServerIds"),
      reasoningEffort: input.reasoningEffort ?? undefined,
      idempotencyKey: readIdempotencyKey(input.idempotencyKey, problems),
    };
    if (problems.length > 0) return { ...nothing, ...refused(problems) };
    const result = await context.commands.sendMessage(context.viewer, wanted);
    if (!result.ok) return { ...nothing, ...(await changed(context, result)) };
    return {
      message: result.message && toChatMessage(result.message),
      queuedMessage: result.queued && toQueuedMessage(result.queued),
      eventCursor: cursorAt(result.version),
      ...(await changed(context, result)),
    };
  }

  @Mutation(() => EditChatMessagePayload, {
    description:
      "Replaces one of the viewer's own messages and deletes all later ones. The chat continues from there.",
  })
  async editChatMessage(
    @Arg("input", () => EditChatMessageInput, INPUT) input: EditChatMessageInput,
    @Ctx() context: Context,
  ): Promise<EditChatMessagePayload> {
    const nothing = { message: null, eventCursor: null };
    const problems: UserErrorObject[] = [];
    const wanted = {
      messageId: databaseId("msg", input.messageId, "messageId"),
      parts: readParts(input.parts, problems),
      modelConfigId: optionalDatabaseId("model", input.modelConfigId, "modelConfigId"),
      mcpServerIds: optionalDatabaseIds("mcp", input.mcpServerIds, "mcpServerIds"),
    };
    if (problems.length > 0) return { ...nothing, ...refused(problems) };
    const result = await context.commands.editMessage(context.viewer, wanted);
    if (!result.ok) return { ...nothing, ...(await changed(context, result)) };
    return {
      message: toChatMessage(result.message),
      eventCursor: cursorAt(result.version),
      ...(await changed(context, result)),
    };
  }

  @Mutation(() => InterruptChatPayload, {
    description: "Interrupts the running turn and saves its partial output.",
  })
  async interruptChat(
    @Arg("input", () => InterruptChatInput, INPUT) input: InterruptChatInput,
    @Ctx() context: Context,
  ): Promise<InterruptChatPayload> {
    const chatId = databaseId("chat", input.chatId, "chatId");
    return changed(context, await context.commands.interruptChat(context.viewer, chatId));
  }

  @Mutation(() => RetryChatPayload, {
    description:
      "Retries the failed turn of a chat in status `ERROR`: with the same history, and with the chat's current model and MCP servers. Queued messages are sent after it.",
  })
  async retryChat(
    @Arg("input", () => RetryChatInput, INPUT) input: RetryChatInput,
    @Ctx() context: Context,
  ): Promise<RetryChatPayload> {
    const chatId = databaseId("chat", input.chatId, "chatId");
    const result = await context.commands.retryChat(context.viewer, chatId);
    return { eventCursor: result.ok ? cursorAt(result.version) : null, ...(await changed(context, result)) };
  }

  @Mutation(() => ArchiveChatPayload, {
    description: "Interrupts and archives a chat. Reversible with `unarchiveChat`.",
  })
  async archiveChat(
    @Arg("input", () => ArchiveChatInput, INPUT) input: ArchiveChatInput,
    @Ctx() context: Context,
  ): Promise<ArchiveChatPayload> {
    const chatId = databaseId("chat", input.chatId, "chatId");
    return changed(context, await context.commands.archiveChat(context.viewer, chatId));
  }

  @Mutation(() => UnarchiveChatPayload, {
    description: "Restores a chat from the archive. Does not start a turn.",
  })
  async unarchiveChat(
    @Arg("input", () => UnarchiveChatInput, INPUT) input: UnarchiveChatInput,
    @Ctx() context: Context,
  ): Promise<UnarchiveChatPayload> {
    const chatId = databaseId("chat", input.chatId, "chatId");
    return changed(context, await context.commands.unarchiveChat(context.viewer, chatId));
  }

  @Mutation(() => PromoteQueuedMessagePayload, {
    description: "Moves a queued message to the front of the queue and interrupts the running turn.",
  })
  async promoteQueuedMessage(
    @Arg("input", () => PromoteQueuedMessageInput, INPUT) input: PromoteQueuedMessageInput,
    @Ctx() context: Context,
  ): Promise<PromoteQueuedMessagePayload> {
    const queuedId = databaseId("que", input.queuedMessageId, "queuedMessageId");
    return changed(context, await context.commands.promoteQueuedMessage(context.viewer, queuedId));
  }

  @Mutation(() => DeleteQueuedMessagePayload, { description: "Removes a message from the queue." })
  async deleteQueuedMessage(
    @Arg("input", () => DeleteQueuedMessageInput, INPUT) input: DeleteQueuedMessageInput,
    @Ctx() context: Context,
  ): Promise<DeleteQueuedMessagePayload> {
    const queuedId = databaseId("que", input.queuedMessageId, "queuedMessageId");
    const result = await context.commands.deleteQueuedMessage(context.viewer, queuedId);
    return { deletedId: result.ok ? input.queuedMessageId : null, ...(await changed(context, result)) };
  }

  @Mutation(() => SubmitToolResultsPayload, {
    description: "Submits the results of the tool calls that wait for the client. The turn continues.",
  })
  async submitToolResults(
    @Arg("input", () => SubmitToolResultsInput, INPUT) input: SubmitToolResultsInput,
    @Ctx() context: Context,
  ): Promise<SubmitToolResultsPayload> {
    const problems: UserErrorObject[] = [];
    const wanted = {
      chatId: databaseId("chat", input.chatId, "chatId"),
      results: readToolResults(input.results, problems),
    };
    if (problems.length > 0) return { eventCursor: null, ...refused(problems) };
    const result = await context.commands.submitToolResults(context.viewer, wanted);
    return { eventCursor: result.ok ? cursorAt(result.version) : null, ...(await changed(context, result)) };
  }
}
