import type { MigrationInterface, QueryRunner } from "typeorm";

/** A chat may wait for its client without a deadline. */
export class ClientToolDeadlines1763700000022 implements MigrationInterface {
  readonly name = "ClientToolDeadlines1763700000022";

  /** Weaker than the constraint that it replaces, which every row has met: so no row need be looked at (NOT VALID). */
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE chats DROP CONSTRAINT chats_deadline_check;
      ALTER TABLE chats ADD CONSTRAINT chats_deadline_check
        CHECK (action_deadline_at IS NULL OR status = 'requires_action') NOT VALID;
    `);
  }

  /** Chats that wait without a deadline get one that has just passed. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      UPDATE chats SET action_deadline_at = now() WHERE status = 'requires_action' AND action_deadline_at IS NULL;
      ALTER TABLE chats DROP CONSTRAINT chats_deadline_check;
      ALTER TABLE chats ADD CONSTRAINT chats_deadline_check
        CHECK ((action_deadline_at IS NOT NULL) = (status = 'requires_action'));
    `);
  }
}
