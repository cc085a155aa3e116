import type { MigrationInterface, QueryRunner } from "typeorm";

/** People who may be deactivated, tokens with scopes, and sign-in with an identity provider. */
export class People1763700000009 implements MigrationInterface {
  readonly name = "People1763700000009";

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- Null = active. Whoever is not cannot sign in, and none of their tokens counts.
      ALTER TABLE users ADD COLUMN deactivated_at timestamptz;

      CREATE TYPE token_scope AS ENUM ('read', 'chat', 'admin');
      ALTER TABLE api_tokens ADD COLUMN scopes token_scope[] NOT NULL DEFAULT '{read,chat,admin}';

      CREATE TABLE user_identities (
        id uuid CONSTRAINT user_identities_pkey PRIMARY KEY,
        user_id uuid NOT NULL CONSTRAINT user_identities_user_fkey REFERENCES users (id) ON DELETE CASCADE,
        issuer text NOT NULL,
        subject text NOT NULL,
        -- Sealed by src/store/secret-box.ts; null = the provider gave none.
        access_token text,
        refresh_token text,
        id_token text,
        -- Of the access token; null = nobody said.
        token_expires_at timestamptz,
        -- Who renews the tokens now, and until when others leave it to them; null = nobody.
        refresh_claim uuid,
        refresh_claimed_until timestamptz,
        created_at timestamptz NOT NULL DEFAULT now(),
        signed_in_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT user_identities_subject_key UNIQUE (issuer, subject)
      );
      CREATE INDEX user_identities_user_idx ON user_identities (user_id, signed_in_at);

      CREATE TABLE user_sessions (
        id uuid CONSTRAINT user_sessions_pkey PRIMARY KEY,
        user_id uuid NOT NULL CONSTRAINT user_sessions_user_fkey REFERENCES users (id) ON DELETE CASCADE,
        identity_id uuid NOT NULL
          CONSTRAINT user_sessions_identity_fkey REFERENCES user_identities (id) ON DELETE CASCADE,
        -- SHA-256 of the cookie, which is 256 random bits.
        token_hash bytea NOT NULL CONSTRAINT user_sessions_token_hash_key UNIQUE,
        created_at timestamptz NOT NULL DEFAULT now(),
        last_seen_at timestamptz NOT NULL DEFAULT now(),
        -- However much it is used.
        expires_at timestamptz NOT NULL,
        idle_expires_at timestamptz NOT NULL
      );
      CREATE INDEX user_sessions_user_idx ON user_sessions (user_id);
      CREATE INDEX user_sessions_expiry_idx ON user_sessions (expires_at);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE user_sessions, user_identities;
      ALTER TABLE api_tokens DROP COLUMN scopes;
      DROP TYPE token_scope;
      ALTER TABLE users DROP COLUMN deactivated_at;
    `);
  }
}
