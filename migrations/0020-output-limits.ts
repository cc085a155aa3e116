import type { MigrationInterface, QueryRunner } from "typeorm";

/** What vendors' refusals show of how long a model's answers may be, beside what they show of its context. */
export class OutputLimits1763700000020 implements MigrationInterface {
  readonly name = "OutputLimits1763700000020";

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE model_configs
        ADD COLUMN observed_output_limit integer
          CONSTRAINT model_configs_observed_output_limit_check CHECK (observed_output_limit > 0);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("ALTER TABLE model_configs DROP COLUMN observed_output_limit");
  }
}
