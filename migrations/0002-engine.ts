import type { MigrationInterface, QueryRunner } from "typeorm";

/** What the full engine keeps: titles with their origin, vendors' options and limits, people's own prompts. */
export class Engine1763700000002 implements MigrationInterface {
  readonly name = "Engine1763700000002";

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TYPE model_provider_kind ADD VALUE 'google';
      ALTER TYPE model_provider_kind ADD VALUE 'azure_openai';
      ALTER TYPE model_provider_kind ADD VALUE 'bedrock';
      CREATE TYPE title_source AS ENUM ('first_message', 'model', 'person');

      ALTER TABLE users
        ADD COLUMN custom_prompt text NOT NULL DEFAULT '',
        ADD COLUMN default_model_config_id uuid
          CONSTRAINT users_default_model_config_fkey REFERENCES model_configs ON DELETE SET NULL;

      ALTER TABLE model_configs
        ADD COLUMN provider_options jsonb NOT NULL DEFAULT '{}',
        -- Null = nobody said; then what was observed counts.
        ALTER COLUMN context_limit DROP NOT NULL,
        -- From the vendor's list of models, or from its refusal of a prompt that was too long.
        ADD COLUMN observed_context_limit integer
          CONSTRAINT model_configs_observed_context_limit_check CHECK (observed_context_limit > 0);

      ALTER TABLE chats
        ADD COLUMN title_source title_source NOT NULL DEFAULT 'first_message',
        -- The snapshot in which the title last changed.
        ADD COLUMN title_version bigint NOT NULL DEFAULT 0;

      -- The vendor's id of the response that became this message; null when it gives none or the response was cut.
      ALTER TABLE chat_messages ADD COLUMN provider_response_id text;
    `);
  }

  /** PostgreSQL cannot take values out of an enum, so the type is made anew; rows of the new kinds go. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE chat_messages DROP COLUMN provider_response_id;
      ALTER TABLE chats DROP COLUMN title_version, DROP COLUMN title_source;
      UPDATE model_configs SET context_limit = coalesce(context_limit, observed_context_limit, 128000);
      ALTER TABLE model_configs DROP COLUMN observed_context_limit, DROP COLUMN provider_options,
        ALTER COLUMN context_limit SET NOT NULL;
      ALTER TABLE users DROP COLUMN default_model_config_id, DROP COLUMN custom_prompt;
      DROP TYPE title_source;
      DELETE FROM model_providers WHERE kind IN ('google', 'azure_openai', 'bedrock');
      ALTER TYPE model_provider_kind RENAME TO model_provider_kind_2;
      CREATE TYPE model_provider_kind AS ENUM ('anthropic', 'openai', 'openai_compatible');
      ALTER TABLE model_providers ALTER COLUMN kind TYPE model_provider_kind USING kind::text::model_provider_kind;
      DROP TYPE model_provider_kind_2;
    `);
  }
}
