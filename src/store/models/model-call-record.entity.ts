/** A recorded model call: the prompt and the answer of one attempt. Stored for some days, where recording is enabled. */
import { Column, Entity, ForeignKey, Index, PrimaryGeneratedColumn } from "typeorm";
import type { ModelProviderKind } from "../../domain/common/failures.js";
import type { JsonObject } from "../../domain/common/json.js";
import type { ModelCallPurpose } from "../../domain/models/model-calls.js";
import type { StepOutcome } from "../../domain/common/meters.js";
import { jsonbText } from "../common/entity-columns.js";
import { ChatEntity } from "../chats/chat.entity.js";

@Entity("model_call_records")
@Index("model_call_records_chat_idx", ["chatId", "id"])
@Index("model_call_records_age_idx", ["createdAt"])
export class ModelCallRecordEntity {
  @PrimaryGeneratedColumn("identity", {
    name: "id",
    type: "bigint",
    generatedIdentity: "ALWAYS",
    primaryKeyConstraintName: "model_call_records_pkey",
  })
  id!: string;

  @Column("uuid", { name: "chat_id" })
  @ForeignKey(() => ChatEntity, { name: "model_call_records_chat_fkey", onDelete: "CASCADE" })
  chatId!: string;

  /** Of the requested message; null = none, such as a title. */
  @Column("text", { name: "generation", nullable: true })
  generation!: string | null;

  @Column("integer", { name: "attempt" })
  attempt!: number;

  @Column("text", { name: "purpose" })
  purpose!: ModelCallPurpose;

  @Column("text", { name: "provider" })
  provider!: ModelProviderKind;

  @Column("text", { name: "model" })
  model!: string;

  @Column("timestamptz", { name: "started_at" })
  startedAt!: Date;

  /** Null = there was none, or it was not measured. */
  @Column("integer", { name: "first_part_ms", nullable: true })
  firstPartMs!: number | null;

  @Column("integer", { name: "duration_ms" })
  durationMs!: number;

  @Column("text", { name: "outcome" })
  outcome!: StepOutcome;

  /** As written by `toJsonb`, like the response. */
  @Column("jsonb", { name: "request", transformer: jsonbText })
  request!: JsonObject;

  @Column("jsonb", { name: "response", transformer: jsonbText })
  response!: JsonObject;

  @Column("boolean", { name: "is_cut" })
  isTruncated!: boolean;

  /** When it was written; retention counts from it. */
  @Column("timestamptz", { name: "created_at", default: () => "now()" })
  createdAt!: Date;
}
