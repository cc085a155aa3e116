import type { MigrationInterface, QueryRunner } from "typeorm";

/** What git hosts say of the branches that chats work on, and when to ask them again. */
export class DiffStatus1763700000017 implements MigrationInterface {
  readonly name = "DiffStatus1763700000017";

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- The snapshot in which what is shown of the chat's branch last changed.
      ALTER TABLE chats ADD COLUMN diff_version bigint NOT NULL DEFAULT 0;

      ALTER TABLE chat_diff_statuses
        -- When work on the branch was last seen.
        ADD COLUMN marked_at timestamptz NOT NULL DEFAULT now(),
        -- When the look that is under way began, or the last one.
        ADD COLUMN claimed_at timestamptz,
        -- When the last look began that the host answered.
        ADD COLUMN refreshed_at timestamptz,
        -- Why the newest look failed; null when it did not.
        ADD COLUMN failure text,
        -- What the host said, as src/domain/diff-status.ts has it; null before the first answer about this branch.
        ADD COLUMN facts jsonb;
      CREATE INDEX chat_diff_statuses_stale_idx ON chat_diff_statuses (stale_at);

      ALTER TABLE git_connections
        -- github or gitlab; null until the host was asked.
        ADD COLUMN kind text,
        -- When the host is to be asked who the token is; null when it has said so, or wants none of it.
        ADD COLUMN ask_at timestamptz DEFAULT now();
      CREATE INDEX git_connections_ask_idx ON git_connections (ask_at) WHERE ask_at IS NOT NULL;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP INDEX git_connections_ask_idx;
      ALTER TABLE git_connections DROP COLUMN ask_at, DROP COLUMN kind;
      DROP INDEX chat_diff_statuses_stale_idx;
      ALTER TABLE chat_diff_statuses DROP COLUMN facts, DROP COLUMN failure, DROP COLUMN refreshed_at,
        DROP COLUMN claimed_at, DROP COLUMN marked_at;
      ALTER TABLE chats DROP COLUMN diff_version;
    `);
  }
}
