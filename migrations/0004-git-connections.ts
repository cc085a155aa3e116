import type { MigrationInterface, QueryRunner } from "typeorm";

/** People's git hosts with their tokens, and which chats' branches have been worked on. */
export class GitConnections1763700000004 implements MigrationInterface {
  readonly name = "GitConnections1763700000004";

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE git_connections (
        id uuid CONSTRAINT git_connections_pkey PRIMARY KEY,
        user_id uuid NOT NULL CONSTRAINT git_connections_user_fkey REFERENCES users (id) ON DELETE CASCADE,
        -- As src/domain/git-host.ts writes it.
        host text NOT NULL,
        -- Who the token is there; null until the host was asked.
        login text,
        -- Sealed by src/store/secret-box.ts.
        token text NOT NULL,
        connected_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT git_connections_host_key UNIQUE (user_id, host)
      );

      CREATE TABLE chat_diff_statuses (
        chat_id uuid CONSTRAINT chat_diff_statuses_pkey PRIMARY KEY
          CONSTRAINT chat_diff_statuses_chat_fkey REFERENCES chats (id) ON DELETE CASCADE,
        git_branch text NOT NULL,
        -- Without user name and password.
        git_remote_origin text NOT NULL,
        -- From then on it may not be true any more.
        stale_at timestamptz NOT NULL
      );
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("DROP TABLE chat_diff_statuses; DROP TABLE git_connections;");
  }
}
