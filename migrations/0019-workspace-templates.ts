import type { MigrationInterface, QueryRunner } from "typeorm";

/** What workspaces are made of, and workspaces that the server itself makes, starts, stops and deletes. */
export class WorkspaceTemplates1763700000019 implements MigrationInterface {
  readonly name = "WorkspaceTemplates1763700000019";

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TYPE workspace_provisioner ADD VALUE 'docker';
      ALTER TYPE workspace_provisioner ADD VALUE 'kubernetes';
      ALTER TYPE workspace_status ADD VALUE 'creating';
      ALTER TYPE workspace_status ADD VALUE 'deleting';

      CREATE TABLE workspace_templates (
        id uuid CONSTRAINT workspace_templates_pkey PRIMARY KEY,
        name text NOT NULL CONSTRAINT workspace_templates_name_key UNIQUE,
        display_name text NOT NULL,
        description text NOT NULL,
        readme text,
        provisioner workspace_provisioner NOT NULL,
        -- What the provisioner makes; each has its own form.
        spec jsonb NOT NULL,
        parameters jsonb NOT NULL,
        -- Null = its workspaces never stop by themselves.
        default_ttl_ms bigint,
        allow_ttl_override boolean NOT NULL,
        is_enabled boolean NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now()
      );

      ALTER TABLE workspaces
        -- Null in those that nobody starts and stops: the default workspace, and external ones.
        ADD COLUMN template_id uuid CONSTRAINT workspaces_template_fkey REFERENCES workspace_templates ON DELETE RESTRICT,
        -- The template's at the time: what is there already must go on fitting together.
        ADD COLUMN spec jsonb,
        ADD COLUMN parameters jsonb,
        -- Names what made it: the same request again finds it.
        ADD COLUMN creation_key text CONSTRAINT workspaces_creation_key_key UNIQUE,
        -- The work under way between two resting states, and who does it until when. Any replica may take it up.
        ADD COLUMN work_began_at timestamptz,
        ADD COLUMN work_tries integer NOT NULL DEFAULT 0,
        ADD COLUMN work_due_at timestamptz,
        ADD COLUMN work_claim uuid,
        ADD COLUMN work_claimed_until timestamptz;
      CREATE INDEX workspaces_work_idx ON workspaces (work_due_at) WHERE work_due_at IS NOT NULL;
      CREATE INDEX workspaces_template_idx ON workspaces (template_id) WHERE template_id IS NOT NULL;
      CREATE UNIQUE INDEX workspaces_managed_name_key ON workspaces (owner_id, name) WHERE template_id IS NOT NULL;
      -- Agents of workspaces from templates have tokens too.
      DROP INDEX workspaces_external_name_key;
      CREATE UNIQUE INDEX workspaces_external_name_key ON workspaces (owner_id, name)
        WHERE agent_token_hash IS NOT NULL AND template_id IS NULL;
    `);
  }

  /** PostgreSQL cannot take values out of an enum, so the types are made anew; workspaces from templates go. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DELETE FROM workspaces WHERE template_id IS NOT NULL;
      DROP INDEX workspaces_external_name_key;
      ALTER TABLE workspaces DROP COLUMN work_claimed_until, DROP COLUMN work_claim, DROP COLUMN work_due_at,
        DROP COLUMN work_tries, DROP COLUMN work_began_at, DROP COLUMN creation_key, DROP COLUMN parameters,
        DROP COLUMN spec, DROP COLUMN template_id;
      CREATE UNIQUE INDEX workspaces_external_name_key ON workspaces (owner_id, name)
        WHERE agent_token_hash IS NOT NULL;
      DROP TABLE workspace_templates;
      ALTER TYPE workspace_provisioner RENAME TO workspace_provisioner_2;
      CREATE TYPE workspace_provisioner AS ENUM ('local', 'external');
      ALTER TABLE workspaces ALTER COLUMN provisioner TYPE workspace_provisioner
        USING provisioner::text::workspace_provisioner;
      DROP TYPE workspace_provisioner_2;
      ALTER TYPE workspace_status RENAME TO workspace_status_2;
      CREATE TYPE workspace_status AS ENUM ('stopped', 'starting', 'running', 'stopping', 'failed');
      ALTER TABLE workspaces ALTER COLUMN status TYPE workspace_status USING status::text::workspace_status;
      DROP TYPE workspace_status_2;
    `);
  }
}
