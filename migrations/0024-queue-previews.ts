import type { MigrationInterface, QueryRunner } from "typeorm";

/** What lists and events carry of a queued message, so that they need not read the whole of it. */
export class QueuePreviews1763700000024 implements MigrationInterface {
  readonly name = "QueuePreviews1763700000024";

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- The first 2 kB of \`content\`, in the same form; null = \`content\` is no longer than that.
      ALTER TABLE chat_queued_messages ADD COLUMN preview jsonb;

      -- Of what waits already: files, and the beginning of a text that comes first. There is never much of it.
      UPDATE chat_queued_messages SET preview = coalesce((
          SELECT jsonb_agg(CASE WHEN part ->> 'type' = 'text'
            THEN jsonb_set(part, '{text}', to_jsonb(left(part ->> 'text', 512))) ELSE part END ORDER BY place)
          FROM jsonb_array_elements(content) WITH ORDINALITY AS parts (part, place)
          WHERE part ->> 'type' = 'file' OR (part ->> 'type' = 'text' AND place = 1)
        ), '[]')
        WHERE content_version = 1 AND octet_length(content::text) > 4096;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("ALTER TABLE chat_queued_messages DROP COLUMN preview;");
  }
}
