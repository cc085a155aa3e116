/** Creates a chat. Its first message enters history at once, so a worker can claim it. */
import { randomUUID } from "node:crypto";
import { initialState } from "../../domain/chats/chat-lifecycle.js";
import type { ChatLabel, ClientTool } from "../../domain/chats/chat-state.js";
import type { ReasoningEffort, UserMessagePart } from "../../domain/chats/message-parts.js";
import { MAX_CLIENT_TOOLS, MAX_LABELS, MAX_TITLE_CHARACTERS } from "../../domain/common/limits.js";
import { titleFrom } from "../../domain/chats/title.js";
import type { Viewer } from "../../domain/users/viewer.js";
import { findWorkspace } from "../../store/workspaces/workspaces.js";
import {
  insertChat,
  KeyAlreadyUsed,
  recallRequest,
  rememberRequest,
  type NewChat,
} from "../../store/chats/new-chat.js";
import { publishChange } from "../../engine/transitions/apply-transition.js";
import type { ChatChanged, CommandRefusal, CommandResult } from "../common/command-result.js";
import {
  checkModel,
  checkParts,
  IDEMPOTENCY_KEY_REUSED,
  notFound,
  refuse,
  type CommandDependencies,
} from "../common/command-dependencies.js";
import { attachFilesStep, resolveAttachments, type MessageContent } from "./attachments.js";
import { modelRefusal } from "../models/model-keys.js";
import { checkAuthorized, checkSelection } from "../mcp/selection.js";
import { type TransactionStep, bytesOfParts, checkStorage, sequence } from "../files/storage-check.js";
import { refusalOfRollback } from "../common/rolled-back.js";
import { checkUsageLimit } from "../usage/usage-limit-check.js";

export type CreateChatInput = {
  parts: UserMessagePart[];
  /** Absent = the viewer's default workspace, if they have one; null = none. */
  workspaceId?: string | null;
  modelConfigId?: string;
  title?: string;
  labels?: ChatLabel[];
  clientTools?: ClientTool[];
  reasoningEffort?: ReasoningEffort;
  /** The chat's MCP servers; absent = those that are on by default. */
  mcpServerIds?: string[];
  idempotencyKey?: string;
};

/** Repeating a request with the same idempotency key returns the chat that the first one created. */
export async function createChat(
  dependencies: CommandDependencies,
  viewer: Viewer,
  input: CreateChatInput,
): Promise<CommandResult<ChatChanged>> {
  const repeated = await repeatedRequest(dependencies, viewer, input);
  if (repeated) return repeated;
  const refusal = checkInput(dependencies, input) ?? (await checkModel(dependencies, input.modelConfigId));
  if (refusal) return refuse(refusal);
  if (input.workspaceId && !(await findWorkspace(dependencies.database, viewer, input.workspaceId))) {
    return notFound("workspace", "workspaceId");
  }
  const model = await dependencies.resolveModel(
    input.modelConfigId ?? (await ownDefault(dependencies, viewer)),
    viewer.userId,
  );
  if (!model.ok) return refuse(modelRefusal(model));
  const selected = await selectServers(dependencies, viewer, input);
  if (!selected.ok) return selected;
  const overLimit = await checkUsageLimit(dependencies, viewer.userId);
  if (overLimit) return refuse(overLimit);
  const attached = await resolveAttachments(dependencies.database, viewer, null, input.parts);
  if (!attached.ok) return attached;
  const { content } = attached;
  const addedBytes = bytesOfParts(content.parts) + Buffer.byteLength(JSON.stringify(input.clientTools ?? []));
  const stored = await checkStorage(dependencies, viewer.userId, addedBytes);
  if (!stored.ok) return stored;
  const chosen = { modelConfigId: model.modelConfigId, mcpServerIds: selected.ids, content };
  const chat = newChat(dependencies, viewer, input, chosen);
  try {
    const alongside = sequence(attachFilesStep(content, chat.id, chat.now), stored.verify);
    return await commit(dependencies, chat, alongside, input.idempotencyKey);
  } catch (error) {
    if (!(error instanceof KeyAlreadyUsed)) return refusalOfRollback(error);
    return (await repeatedRequest(dependencies, viewer, input)) ?? refuse(REQUEST_IN_PROGRESS);
  }
}

/** The viewer's own default while it is selectable; null = the deployment's. */
async function ownDefault(dependencies: CommandDependencies, viewer: Viewer): Promise<string | null> {
  const { defaultModelConfigId: own } = await dependencies.preferencesOf(viewer.userId);
  return own !== null && (await dependencies.isModelSelectable(own)) ? own : null;
}

async function selectServers(
  dependencies: CommandDependencies,
  viewer: Viewer,
  input: CreateChatInput,
): Promise<CommandResult<{ ids: string[] }>> {
  const selected = await checkSelection(dependencies.mcpSelection, input.mcpServerIds);
  if (!selected.ok) return selected;
  if (selected.ids === undefined) return { ok: true, ids: await dependencies.mcpSelection.preselected() };
  const refusal = await checkAuthorized(dependencies.mcpSelection, selected.ids, viewer.userId);
  return refusal ? refuse(refusal) : { ok: true, ids: selected.ids };
}

function newChat(
  dependencies: CommandDependencies,
  viewer: Viewer,
  input: CreateChatInput,
  {
    modelConfigId,
    mcpServerIds,
    content,
  }: Pick<NewChat, "modelConfigId" | "mcpServerIds"> & { content: MessageContent },
): NewChat {
  return {
    id: randomUUID(),
    ownerId: viewer.userId,
    modelConfigId,
    workspaceId:
      input.workspaceId === undefined ? dependencies.defaultWorkspaceId(viewer) : input.workspaceId,
    reasoningEffort: input.reasoningEffort ?? null,
    clientTools: input.clientTools ?? [],
    labels: input.labels ?? [],
    mcpServerIds,
    state: initialState(
      input.title ?? titleFrom(content.parts),
      input.title === undefined ? "first_message" : "person",
    ),
    messages: [
      {
        role: "user",
        visibility: "both",
        parts: content.parts,
        authorId: viewer.userId,
        modelConfigId,
        reasoningEffort: input.reasoningEffort ?? null,
      },
    ],
    now: dependencies.clock.now(),
  };
}

async function commit(
  dependencies: CommandDependencies,
  chat: NewChat,
  alongside: TransactionStep | undefined,
  key: string | undefined,
): Promise<CommandResult<ChatChanged>> {
  const { id: chatId, ownerId, state } = chat;
  const version = state.snapshotVersion;
  const messages = await dependencies.database.transaction(async (transaction) => {
    const rows = await insertChat(transaction, chat);
    await alongside?.(transaction);
    const created = { chatId, messageId: null, queuedId: null, version };
    if (key !== undefined) await rememberRequest(transaction, { userId: ownerId, key }, created);
    return rows;
  });
  publishChange(dependencies, { chatId, ownerId, previousVersion: 0, state, messages }, messages);
  return { ok: true, chatId, version };
}

async function repeatedRequest(
  dependencies: CommandDependencies,
  viewer: Viewer,
  { idempotencyKey }: CreateChatInput,
): Promise<CommandResult<ChatChanged> | null> {
  if (idempotencyKey === undefined) return null;
  const made = await recallRequest(dependencies.database, { userId: viewer.userId, key: idempotencyKey });
  if (!made) return null;
  const isSend = made.messageId !== null || made.queuedId !== null;
  if (isSend) return refuse(IDEMPOTENCY_KEY_REUSED);
  return { ok: true, chatId: made.chatId, version: made.version };
}

const REQUEST_IN_PROGRESS: CommandRefusal = {
  code: "CONFLICT",
  message: "Another request with this key is not finished. Try again.",
  path: ["idempotencyKey"],
};

/** Tool names that every vendor accepts. */
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
/** Keys that stay readable in filters: no spaces, no quotes. */
const LABEL_KEY = /^[a-zA-Z0-9][a-zA-Z0-9._/-]{0,63}$/;
const MAX_LABEL_VALUE_CHARACTERS = 256;

function checkInput(dependencies: CommandDependencies, input: CreateChatInput): CommandRefusal | null {
  return (
    checkParts(input.parts) ??
    checkTitle(input.title) ??
    checkLabels(input.labels ?? []) ??
    checkClientTools(dependencies, input.clientTools ?? [])
  );
}

function checkTitle(title: string | undefined): CommandRefusal | null {
  if (title === undefined || (title.trim() !== "" && title.length <= MAX_TITLE_CHARACTERS)) return null;
  return {
    code: "INVALID",
    message: `A title has 1 to ${MAX_TITLE_CHARACTERS} characters.`,
    path: ["title"],
  };
}

function checkLabels(labels: { key: string; value: string }[]): CommandRefusal | null {
  const refused = (message: string, ...path: string[]): CommandRefusal => ({
    code: "INVALID",
    message,
    path: ["labels", ...path],
  });
  if (labels.length > MAX_LABELS) return refused(`A chat has at most ${MAX_LABELS} labels.`);
  const keys = new Set<string>();
  for (const [index, { key, value }] of labels.entries()) {
    if (!LABEL_KEY.test(key))
      return refused("A label's key is 1 to 64 of a-z, 0-9 and . _ / -", `${index}`, "key");
    if (keys.has(key)) return refused("A label's key may be used once.", `${index}`, "key");
    if (value.length === 0 || value.length > MAX_LABEL_VALUE_CHARACTERS) {
      return refused(
        `A label's value has 1 to ${MAX_LABEL_VALUE_CHARACTERS} characters.`,
        `${index}`,
        "value",
      );
    }
    keys.add(key);
  }
  return null;
}

function checkClientTools(dependencies: CommandDependencies, tools: ClientTool[]): CommandRefusal | null {
  const refused = (message: string, ...path: string[]): CommandRefusal => ({
    code: "INVALID",
    message,
    path: ["clientTools", ...path],
  });
  if (tools.length > MAX_CLIENT_TOOLS) return refused(`A chat has at most ${MAX_CLIENT_TOOLS} client tools.`);
  const names = new Set(dependencies.toolNames);
  for (const [index, { name, inputSchema }] of tools.entries()) {
    if (!TOOL_NAME.test(name))
      return refused("A tool's name is 1 to 64 of a-z, A-Z, 0-9, _ and -", `${index}`, "name");
    if (names.has(name)) return refused(`There is a tool named ${name} already.`, `${index}`, "name");
    if (inputSchema["type"] !== "object") {
      return refused(
        'A tool\'s input schema is a JSON Schema with "type": "object".',
        `${index}`,
        "inputSchema",
      );
    }
    names.add(name);
  }
  return null;
}
