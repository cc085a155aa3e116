import type { MigrationInterface, QueryRunner } from "typeorm";

/** What lists and events carry of a queued message, so that they need not read the whole of it. */
export class QueuePreviews1763700000024 implements MigrationInterface {
  readonly name = "QueuePreviews1763700000024";

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- The first 2 kB of \`content\`, in the same form; null = \`content\` is no longer than that, or older than this column.
      ALTER TABLE chat_queued_messages ADD COLUMN preview jsonb;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("ALTER TABLE chat_queued_messages DROP COLUMN preview;");
  }
}
