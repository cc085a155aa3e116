import type { MigrationInterface, QueryRunner } from "typeorm";

/** Entries of workspaces' `.mcp.json`: those that ask for permission, and those that users have allowed. */
export class WorkspaceMcpEntries1763700000028 implements MigrationInterface {
  readonly name = "WorkspaceMcpEntries1763700000028";

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- Grows with every permission given or taken back, so that agents can tell the newer of two answers.
      ALTER TABLE workspaces ADD COLUMN mcp_revision integer NOT NULL DEFAULT 0;

      CREATE TABLE workspace_mcp_entries (
        workspace_id uuid NOT NULL CONSTRAINT workspace_mcp_entries_workspace_fkey
          REFERENCES workspaces (id) ON DELETE CASCADE,
        -- Of everything that decides what is started; "sha256:" and 64 hexadecimal digits.
        hash text NOT NULL,
        -- The entry itself, as its agent reported it.
        entry jsonb NOT NULL,
        config_file text NOT NULL,
        -- What the file is a link to; null = it is none.
        link_target text,
        requested_at timestamptz NOT NULL DEFAULT now(),
        -- Null = not allowed.
        allowed_at timestamptz,
        -- Null = not allowed, or the user is gone.
        allowed_by uuid CONSTRAINT workspace_mcp_entries_user_fkey REFERENCES users (id) ON DELETE SET NULL,
        CONSTRAINT workspace_mcp_entries_pkey PRIMARY KEY (workspace_id, hash)
      );
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE workspace_mcp_entries;
      ALTER TABLE workspaces DROP COLUMN mcp_revision;
    `);
  }
}
