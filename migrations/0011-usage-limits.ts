import type { MigrationInterface, QueryRunner } from "typeorm";

/** What people may spend in a period, and what calls under way may still cost. */
export class UsageLimits1763700000011 implements MigrationInterface {
  readonly name = "UsageLimits1763700000011";

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TYPE limit_period AS ENUM ('day', 'week', 'month');

      -- One row, always there.
      CREATE TABLE usage_limit_policy (
        is_only boolean DEFAULT true CONSTRAINT usage_limit_policy_pkey PRIMARY KEY,
        is_enabled boolean NOT NULL DEFAULT false,
        period limit_period NOT NULL DEFAULT 'month',
        -- Microdollars; null = none.
        default_limit_micros bigint,
        updated_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT usage_limit_policy_only_check CHECK (is_only),
        CONSTRAINT usage_limit_policy_limit_check CHECK (default_limit_micros >= 0)
      );
      INSERT INTO usage_limit_policy DEFAULT VALUES;

      CREATE TABLE usage_limit_overrides (
        user_id uuid CONSTRAINT usage_limit_overrides_pkey PRIMARY KEY
          CONSTRAINT usage_limit_overrides_user_fkey REFERENCES users (id) ON DELETE CASCADE,
        limit_micros bigint NOT NULL,
        updated_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT usage_limit_overrides_limit_check CHECK (limit_micros >= 0)
      );

      -- What model calls under way may cost at most; only of people with a limit. Gone when what they cost is counted.
      CREATE TABLE usage_holds (
        id uuid CONSTRAINT usage_holds_pkey PRIMARY KEY,
        owner_id uuid NOT NULL CONSTRAINT usage_holds_owner_fkey REFERENCES users (id) ON DELETE CASCADE,
        -- A hold of a worker ends with its lease; null = outside of workers.
        worker_id uuid,
        micros bigint NOT NULL,
        expires_at timestamptz NOT NULL
      );
      CREATE INDEX usage_holds_owner_idx ON usage_holds (owner_id);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE usage_holds, usage_limit_overrides, usage_limit_policy;
      DROP TYPE limit_period;
    `);
  }
}
