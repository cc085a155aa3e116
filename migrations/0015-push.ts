import type { MigrationInterface, QueryRunner } from "typeorm";

/** Browsers that are told of turns while nobody looks, and the key pair that this deployment signs with. */
export class Push1763700000015 implements MigrationInterface {
  readonly name = "Push1763700000015";

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE push_keys (
        id uuid CONSTRAINT push_keys_pkey PRIMARY KEY,
        -- One pair for all replicas, for good: browsers bind their subscriptions to it.
        is_only boolean NOT NULL DEFAULT true CONSTRAINT push_keys_only_key UNIQUE
          CONSTRAINT push_keys_only_check CHECK (is_only),
        public_key text NOT NULL,
        -- Sealed by src/store/secret-box.ts.
        private_key text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
      );

      CREATE TABLE push_subscriptions (
        -- A new one each time that a browser registers: what was sent to the earlier one says nothing of this one.
        id uuid CONSTRAINT push_subscriptions_pkey PRIMARY KEY,
        user_id uuid NOT NULL CONSTRAINT push_subscriptions_user_fkey REFERENCES users (id) ON DELETE CASCADE,
        endpoint text NOT NULL CONSTRAINT push_subscriptions_endpoint_key UNIQUE,
        -- The browser's public key.
        p256dh text NOT NULL,
        -- Sealed by src/store/secret-box.ts.
        auth text NOT NULL,
        user_agent text,
        created_at timestamptz NOT NULL DEFAULT now()
      );
      CREATE INDEX push_subscriptions_user_idx ON push_subscriptions (user_id, created_at);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("DROP TABLE push_subscriptions; DROP TABLE push_keys;");
  }
}
