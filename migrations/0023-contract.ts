import type { MigrationInterface, QueryRunner } from "typeorm";

/** The queue has messages that come first; the present generation has a start. Constant defaults: no table is rewritten. */
export class Contract1763700000023 implements MigrationInterface {
  readonly name = "Contract1763700000023";

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE chats
        ADD COLUMN priority_queued_ids uuid[] NOT NULL DEFAULT '{}',
        ADD COLUMN generation_started_at timestamptz;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE chats DROP COLUMN generation_started_at, DROP COLUMN priority_queued_ids;
    `);
  }
}
