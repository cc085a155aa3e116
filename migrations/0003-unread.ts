import type { MigrationInterface, QueryRunner } from "typeorm";

/** How far each chat's owner has read. What there is already counts as read. */
export class Unread1763700000003 implements MigrationInterface {
  readonly name = "Unread1763700000003";

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE chats
        -- Null = nothing was read yet. No foreign key: it says how far, and an edit may take that message away.
        ADD COLUMN last_read_message_id bigint;
      UPDATE chats SET last_read_message_id =
        (SELECT m.id FROM chat_messages m WHERE m.chat_id = chats.id AND NOT m.is_deleted ORDER BY m.id DESC LIMIT 1);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("ALTER TABLE chats DROP COLUMN last_read_message_id");
  }
}
