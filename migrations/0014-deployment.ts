import type { MigrationInterface, QueryRunner } from "typeorm";

/** The deployment's settings as one row that is always there, and when admins last read what is other people's. */
export class Deployment1763700000014 implements MigrationInterface {
  readonly name = "Deployment1763700000014";

  async up(runner: QueryRunner): Promise<void> {
    // Until somebody changes them, they are as old as this.
    await runner.query(`
      INSERT INTO settings (key, value)
      SELECT 'deployment', jsonb_strip_nulls(jsonb_build_object(
        'systemPrompt', (SELECT value FROM settings WHERE key = 'systemPrompt')))
    `);
    await runner.query("DELETE FROM settings WHERE key = 'systemPrompt'");
    await runner.query(`
      CREATE TABLE admin_reads (
        admin_id uuid NOT NULL CONSTRAINT admin_reads_admin_id_fkey REFERENCES users ON DELETE CASCADE,
        target_kind text NOT NULL,
        target_id uuid NOT NULL,
        noted_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT admin_reads_pkey PRIMARY KEY (admin_id, target_kind, target_id)
      )
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("DROP TABLE admin_reads");
    await runner.query(`
      INSERT INTO settings (key, value)
      SELECT 'systemPrompt', value -> 'systemPrompt' FROM settings
      WHERE key = 'deployment' AND value ? 'systemPrompt'
    `);
    await runner.query("DELETE FROM settings WHERE key = 'deployment'");
  }
}
