import type { MigrationInterface, QueryRunner } from "typeorm";

/** Workspaces that somebody else runs, whose agents call the server. */
export class ExternalAgents1763700000005 implements MigrationInterface {
  readonly name = "ExternalAgents1763700000005";

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TYPE workspace_provisioner ADD VALUE 'external';

      ALTER TABLE workspaces
        -- Null where only the agent knows it.
        ALTER COLUMN directory DROP NOT NULL,
        -- SHA-256 of the token with which an external workspace's agent calls; null in workspaces of our own.
        ADD COLUMN agent_token_hash bytea CONSTRAINT workspaces_agent_token_hash_key UNIQUE,
        -- The one call that counts. Whoever finds another value here has been replaced.
        ADD COLUMN agent_registration uuid CONSTRAINT workspaces_agent_registration_key UNIQUE,
        ADD COLUMN agent jsonb,
        -- Renewed while the call holds; a replica that dies need not say goodbye.
        ADD COLUMN agent_expires_at timestamptz;
      CREATE UNIQUE INDEX workspaces_external_name_key ON workspaces (owner_id, name)
        WHERE agent_token_hash IS NOT NULL;
    `);
  }

  /** PostgreSQL cannot take values out of an enum, so the type is made anew; external workspaces go. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DELETE FROM workspaces WHERE provisioner = 'external';
      DROP INDEX workspaces_external_name_key;
      ALTER TABLE workspaces DROP COLUMN agent_expires_at, DROP COLUMN agent, DROP COLUMN agent_registration,
        DROP COLUMN agent_token_hash, ALTER COLUMN directory SET NOT NULL;
      ALTER TYPE workspace_provisioner RENAME TO workspace_provisioner_2;
      CREATE TYPE workspace_provisioner AS ENUM ('local');
      ALTER TABLE workspaces ALTER COLUMN provisioner TYPE workspace_provisioner
        USING provisioner::text::workspace_provisioner;
      DROP TYPE workspace_provisioner_2;
    `);
  }
}
