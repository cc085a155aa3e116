import type { MigrationInterface, QueryRunner } from "typeorm";

/**
 * Why a model stopped, and whether the counts of tokens are an estimate. Nullable, and with a constant default: nothing is
 * rewritten, however many messages there are.
 */
export class FinishReasons1763700000021 implements MigrationInterface {
  readonly name = "FinishReasons1763700000021";

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE chat_messages
        -- Null = the model was stopped, none wrote it, or it is older than this column.
        ADD COLUMN finish_reason text,
        ADD COLUMN is_usage_estimated boolean NOT NULL DEFAULT false;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE chat_messages DROP COLUMN is_usage_estimated, DROP COLUMN finish_reason;
    `);
  }
}
