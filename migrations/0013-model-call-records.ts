import type { MigrationInterface, QueryRunner } from "typeorm";

/** What models were asked and what they answered, for a few days, where it is switched on. */
export class ModelCallRecords1763700000013 implements MigrationInterface {
  readonly name = "ModelCallRecords1763700000013";

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE model_call_records (
        id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT model_call_records_pkey PRIMARY KEY,
        chat_id uuid NOT NULL CONSTRAINT model_call_records_chat_fkey REFERENCES chats (id) ON DELETE CASCADE,
        -- Of the message that was asked for; null = of none.
        generation text,
        attempt integer NOT NULL,
        purpose text NOT NULL,
        provider text NOT NULL,
        model text NOT NULL,
        started_at timestamptz NOT NULL,
        first_part_ms integer,
        duration_ms integer NOT NULL,
        outcome text NOT NULL,
        request jsonb NOT NULL,
        response jsonb NOT NULL,
        is_cut boolean NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
      );
      CREATE INDEX model_call_records_chat_idx ON model_call_records (chat_id, id);
      CREATE INDEX model_call_records_age_idx ON model_call_records (created_at);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("DROP TABLE model_call_records");
  }
}
