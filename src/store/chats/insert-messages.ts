/** Inserting messages into history and queue: one description per column, from which the statements are generated. */
import type { MessageRow } from "../../domain/chats/chat-events.js";
import type { MessageDraft, UserMessage } from "../../domain/chats/chat-state.js";
import type { Queryable } from "../common/database.js";
import { EncodedJson, Parameters, type WrittenColumn, writtenColumn } from "../common/entity-columns.js";
import { listToJsonb } from "../common/jsonb-text.js";
import { TOKEN_PROPERTIES } from "../usage/model-usage-columns.js";
import { ChatMessageEntity } from "./chat-message.entity.js";
import { ChatQueuedMessageEntity } from "./chat-queued-message.entity.js";
import { previewOf } from "./queue-preview.js";
import { CONTENT_VERSION, type MessageDbRow, messageColumns, toMessageRow } from "./rows.js";

/** Columns of new messages; what a draft leaves out is null. */
const DRAFT_COLUMNS: WrittenColumn<MessageDraft>[] = [
  writtenColumn(ChatMessageEntity, "role", ({ role }) => role),
  writtenColumn(ChatMessageEntity, "visibility", ({ visibility }) => visibility),
  writtenColumn(ChatMessageEntity, "content", ({ parts }) => new EncodedJson(listToJsonb(parts))),
  writtenColumn(ChatMessageEntity, "authorId", ({ authorId }) => authorId ?? null),
  writtenColumn(ChatMessageEntity, "modelConfigId", ({ modelConfigId }) => modelConfigId ?? null),
  writtenColumn(ChatMessageEntity, "reasoningEffort", ({ reasoningEffort }) => reasoningEffort ?? null),
  ...TOKEN_PROPERTIES.map((property) =>
    writtenColumn(ChatMessageEntity, property, ({ usage }: MessageDraft) => usage?.[property] ?? null),
  ),
  writtenColumn(ChatMessageEntity, "isUsageEstimated", ({ usage }) => usage?.isEstimated ?? false),
  writtenColumn(ChatMessageEntity, "costMicros", ({ costMicros }) => costMicros?.toString() ?? null),
  writtenColumn(ChatMessageEntity, "runtimeMs", ({ runtimeMs }) =>
    runtimeMs == null ? null : Math.round(runtimeMs),
  ),
  writtenColumn(ChatMessageEntity, "generation", ({ generation }) => generation ?? null),
  writtenColumn(ChatMessageEntity, "finishReason", ({ finishReason }) => finishReason ?? null),
  writtenColumn(ChatMessageEntity, "responseId", ({ responseId }) => responseId ?? null),
  writtenColumn(ChatMessageEntity, "isSummary", ({ isSummary }) => isSummary ?? false),
];

/** The MCP servers that stand with a user's message: `chat`'s selection after the update, which took theirs over. */
const selectionIn = (chat: string) =>
  `CASE WHEN d.role = 'user' AND d.author_id IS NOT NULL THEN ${chat}.mcp_server_ids END`;

type Inserted<Source> = {
  parameters: Parameters<Source>;
  draftsOf(source: Source): MessageDraft[];
  /** The table expression `chat`, with `id` and `mcp_server_ids`, and what follows it in `FROM`. */
  chat: string;
  version: string;
  now: string;
  where?: string;
};

/** Inserts drafts in their order; one array parameter for each column. */
export function insertOf<Source>(insert: Inserted<Source>): string {
  const { parameters, draftsOf, chat, version, now, where = "" } = insert;
  const arrays = DRAFT_COLUMNS.map(({ type, value }) =>
    parameters.add({ type: `${type}[]`, value: (source) => draftsOf(source).map((draft) => value(draft)) }),
  );
  const names = DRAFT_COLUMNS.map(({ name }) => name);
  return `INSERT INTO chat_messages AS m (chat_id, mcp_server_ids, content_version, revision, created_at,
        ${names.join(", ")})
      SELECT c.id, ${selectionIn("c")}, ${CONTENT_VERSION}, ${version}, ${now}, ${names.map((name) => `d.${name}`).join(", ")}
      FROM ${chat} c, unnest(${arrays.join(", ")}) WITH ORDINALITY AS d(${names.join(", ")}, position)
      ${where} ORDER BY d.position RETURNING ${messageColumns}`;
}

/** A chat, the snapshot that writes its messages, and the time. */
type Appending = { chatId: string; version: number; now: number };

const INSERT = (() => {
  const parameters = new Parameters<Appending & { drafts: MessageDraft[] }>();
  const chatId = parameters.add({ type: "uuid", value: (appending) => appending.chatId });
  const version = parameters.add(
    writtenColumn(ChatMessageEntity, "revision", (appending) => appending.version),
  );
  const now = parameters.add(writtenColumn(ChatMessageEntity, "createdAt", (appending) => appending.now));
  const where = `WHERE c.id = ${chatId}`;
  const insert = insertOf({
    parameters,
    chat: "chats",
    draftsOf: ({ drafts }) => drafts,
    version,
    now,
    where,
  });
  const text = `WITH inserted AS (${insert}) SELECT * FROM inserted ORDER BY id`;
  return { parameters, statement: { name: "messages-insert", text } };
})();

/** Appends rows to a chat's history; for transitions and for the first messages of a new chat. */
export async function insertMessages(
  transaction: Queryable,
  appending: Appending,
  drafts: MessageDraft[],
): Promise<MessageRow[]> {
  const values = INSERT.parameters.valuesOf({ ...appending, drafts });
  return (await transaction.query<MessageDbRow>(INSERT.statement, values)).map(toMessageRow);
}

/** A message for a queue. `now`: milliseconds since the epoch. */
export type Queued = { chatId: string; queuedId: string; message: UserMessage; now: number };

const ENQUEUE = (() => {
  const parameters = new Parameters<Queued>();
  const columns: WrittenColumn<Queued>[] = [
    writtenColumn(ChatQueuedMessageEntity, "id", ({ queuedId }) => queuedId),
    writtenColumn(ChatQueuedMessageEntity, "chatId", ({ chatId }) => chatId),
    writtenColumn(ChatQueuedMessageEntity, "authorId", ({ message }) => message.authorId),
    writtenColumn(ChatQueuedMessageEntity, "modelConfigId", ({ message }) => message.modelConfigId),
    writtenColumn(ChatQueuedMessageEntity, "reasoningEffort", ({ message }) => message.reasoningEffort),
    writtenColumn(ChatQueuedMessageEntity, "contentVersion", () => CONTENT_VERSION),
    writtenColumn(
      ChatQueuedMessageEntity,
      "content",
      ({ message }) => new EncodedJson(listToJsonb(message.parts)),
    ),
    writtenColumn(ChatQueuedMessageEntity, "preview", ({ message }) => encodedPreview(message)),
    writtenColumn(ChatQueuedMessageEntity, "mcpServerIds", ({ message }) => message.mcpServerIds),
    writtenColumn(ChatQueuedMessageEntity, "createdAt", ({ now }) => now),
  ];
  const text = `INSERT INTO chat_queued_messages ${parameters.row(columns)}`;
  return { parameters, statement: { name: "queue-insert", text } };
})();

export async function enqueue(transaction: Queryable, queued: Queued): Promise<void> {
  await transaction.query(ENQUEUE.statement, ENQUEUE.parameters.valuesOf(queued));
}

function encodedPreview({ parts }: UserMessage): EncodedJson | null {
  const preview = previewOf(parts);
  return preview.isCut ? new EncodedJson(listToJsonb(preview.parts)) : null;
}
