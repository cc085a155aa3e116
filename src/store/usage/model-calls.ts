/** Ledger entries of model calls that left no message (titles, attempts that failed). Those of messages are entered by triggers. */
import type { TokenUsage } from "../../domain/chats/message-parts.js";
import type { ModelCallPurpose } from "../../domain/models/model-calls.js";
import type { Queryable } from "../common/database.js";
import { Parameters, type WrittenColumn, writtenColumn, writtenColumns } from "../common/entity-columns.js";
import { ModelCallEntity } from "./model-call.entity.js";
import { TOKEN_PROPERTIES } from "./model-usage-columns.js";

export type CallWithoutMessage = {
  chatId: string;
  modelConfigId: string;
  purpose: ModelCallPurpose;
  usage: TokenUsage;
  /** Null = unpriced. */
  costMicros: bigint | null;
  /** Wall time of the call in milliseconds; null when it is part of a message's. */
  runtimeMs: number | null;
  /** Milliseconds since the epoch. */
  now: number;
};

const INSERT = (() => {
  const parameters = new Parameters<CallWithoutMessage>();
  const written: WrittenColumn<CallWithoutMessage>[] = [
    ...writtenColumns(ModelCallEntity, ["modelConfigId", "purpose"]),
    ...TOKEN_PROPERTIES.map((property) =>
      writtenColumn(ModelCallEntity, property, ({ usage }: CallWithoutMessage) => usage[property]),
    ),
    writtenColumn(ModelCallEntity, "isUsageEstimated", ({ usage }) => usage.isEstimated ?? false),
    writtenColumn(ModelCallEntity, "costMicros", ({ costMicros }) => costMicros?.toString() ?? null),
    writtenColumn(ModelCallEntity, "runtimeMs", ({ runtimeMs }) =>
      runtimeMs === null ? null : Math.round(runtimeMs),
    ),
    writtenColumn(ModelCallEntity, "createdAt", ({ now }) => new Date(now)),
  ];
  const chat = parameters.add(
    writtenColumn(ModelCallEntity, "chatId", ({ chatId }: CallWithoutMessage) => chatId),
  );
  const text = `INSERT INTO model_calls (chat_id, owner_id, ${written.map(({ name }) => name).join(", ")})
    SELECT c.id, c.owner_id, ${written.map((column) => parameters.add(column)).join(", ")}
    FROM chats c WHERE c.id = ${chat}`;
  return { parameters, statement: { name: "model-call-insert", text } };
})();

/** Writes nothing when the chat is gone. */
export async function insertModelCall(queryable: Queryable, call: CallWithoutMessage): Promise<void> {
  await queryable.query(INSERT.statement, INSERT.parameters.valuesOf(call));
}
