/** Writes of chat metadata, which users edit freely; execution state is written by transitions. */
import type { ChatLabel } from "../../domain/chats/chat-state.js";
import type { Queryable, Statement } from "../common/database.js";
import { toJsonb } from "../common/jsonb-text.js";

const UPDATE: Statement = {
  name: "chat-update-metadata",
  text: `UPDATE chats SET labels = coalesce($2, labels),
      model_config_id = CASE WHEN $3::boolean THEN $4::uuid ELSE model_config_id END,
      mcp_server_ids = coalesce($5::uuid[], mcp_server_ids)
    WHERE id = $1 RETURNING id`,
};

/** Absent values stay; a null model is the deployment's default at each turn. */
export type MetadataChanges = {
  labels: ChatLabel[] | undefined;
  modelConfigId: string | null | undefined;
  mcpServerIds: string[] | undefined;
};

/** False when there is no such chat. The caller checks access. */
export async function updateMetadata(
  queryable: Queryable,
  chatId: string,
  { labels, modelConfigId, mcpServerIds }: MetadataChanges,
): Promise<boolean> {
  const pairs = labels && toJsonb(Object.fromEntries(labels.map(({ key, value }) => [key, value])));
  const values = [
    chatId,
    pairs ?? null,
    modelConfigId !== undefined,
    modelConfigId ?? null,
    mcpServerIds ?? null,
  ];
  return (await queryable.query(UPDATE, values)).length > 0;
}

const READ_MODEL: Statement = {
  name: "chat-read-model",
  // By chats_pkey.
  text: `SELECT model_config_id AS "modelConfigId" FROM chats WHERE id = $1`,
};

/** The chat's own choice; null = the deployment's default, or there is no such chat. */
export async function readChatModelId(queryable: Queryable, chatId: string): Promise<string | null> {
  const [row] = await queryable.query<{ modelConfigId: string | null }>(READ_MODEL, [chatId]);
  return row?.modelConfigId ?? null;
}
