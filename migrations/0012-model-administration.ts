import type { MigrationInterface, QueryRunner } from "typeorm";

/** Providers and models that admins set up, their keys, people's own keys, and what was deleted but is still told of. */
export class ModelAdministration1763700000012 implements MigrationInterface {
  readonly name = "ModelAdministration1763700000012";

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- Names become unique among what is there; who has two of a name keeps the oldest as it is.
      UPDATE model_providers p SET display_name = p.display_name || ' (' || n.place || ')'
      FROM (SELECT id, row_number() OVER (PARTITION BY display_name ORDER BY created_at, id) AS place
            FROM model_providers) n
      WHERE n.id = p.id AND n.place > 1;
      UPDATE model_configs m SET display_name = m.display_name || ' (' || n.place || ')'
      FROM (SELECT id, row_number() OVER (PARTITION BY provider_id, display_name ORDER BY created_at, id) AS place
            FROM model_configs) n
      WHERE n.id = m.id AND n.place > 1;

      CREATE TYPE model_key_policy AS ENUM ('deployment', 'user', 'user_then_deployment');

      ALTER TABLE model_providers
        ADD COLUMN key_policy model_key_policy NOT NULL DEFAULT 'deployment',
        -- Sealed by src/store/secret-box.ts; null = none was given to the API.
        ADD COLUMN api_key text,
        -- Only where an admin chose the address: it may be on this machine or in a private network.
        ADD COLUMN allows_private_addresses boolean NOT NULL DEFAULT false,
        -- An admin has chosen the address: the environment sets neither it nor the key any more.
        ADD COLUMN is_address_own boolean NOT NULL DEFAULT false,
        -- An admin has chosen the wire format: the environment does not set it any more.
        ADD COLUMN is_format_own boolean NOT NULL DEFAULT false,
        -- Null = it is there. Deleted ones are only told of in what was.
        ADD COLUMN deleted_at timestamptz,
        ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now();
      CREATE UNIQUE INDEX model_providers_name_key ON model_providers (display_name) WHERE deleted_at IS NULL;

      ALTER TABLE model_configs
        -- An admin has made or changed it: neither a start nor a new table of prices changes it any more.
        ADD COLUMN is_edited boolean NOT NULL DEFAULT false,
        ADD COLUMN deleted_at timestamptz,
        ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now();
      CREATE UNIQUE INDEX model_configs_name_key ON model_configs (provider_id, display_name) WHERE deleted_at IS NULL;
      -- Operators may have switched the default off by hand; it was used all the same.
      UPDATE model_configs SET is_enabled = true WHERE is_default;
      ALTER TABLE model_configs ADD CONSTRAINT model_configs_default_check
        CHECK (NOT is_default OR (is_enabled AND deleted_at IS NULL));

      CREATE TABLE user_provider_keys (
        id uuid CONSTRAINT user_provider_keys_pkey PRIMARY KEY,
        user_id uuid NOT NULL CONSTRAINT user_provider_keys_user_fkey REFERENCES users (id) ON DELETE CASCADE,
        provider_id uuid NOT NULL
          CONSTRAINT user_provider_keys_provider_fkey REFERENCES model_providers (id) ON DELETE CASCADE,
        -- Sealed by src/store/secret-box.ts.
        api_key text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT user_provider_keys_person_key UNIQUE (user_id, provider_id)
      );
      CREATE INDEX user_provider_keys_provider_idx ON user_provider_keys (provider_id);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE user_provider_keys;
      -- What was deleted goes for good, as it did before.
      DELETE FROM model_configs WHERE deleted_at IS NOT NULL;
      DELETE FROM model_providers WHERE deleted_at IS NOT NULL;
      ALTER TABLE model_configs DROP CONSTRAINT model_configs_default_check;
      DROP INDEX model_configs_name_key, model_providers_name_key;
      ALTER TABLE model_configs DROP COLUMN is_edited, DROP COLUMN deleted_at, DROP COLUMN updated_at;
      ALTER TABLE model_providers DROP COLUMN key_policy, DROP COLUMN api_key, DROP COLUMN allows_private_addresses,
        DROP COLUMN is_address_own, DROP COLUMN is_format_own, DROP COLUMN deleted_at, DROP COLUMN updated_at;
      DROP TYPE model_key_policy;
    `);
  }
}
