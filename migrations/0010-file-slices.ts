import type { MigrationInterface, QueryRunner } from "typeorm";

/** Files are read in slices: without compression a slice costs what it is long. Most kinds of files are compressed themselves. */
export class FileSlices1763700000010 implements MigrationInterface {
  readonly name = "FileSlices1763700000010";

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("ALTER TABLE files ALTER COLUMN content SET STORAGE EXTERNAL");
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("ALTER TABLE files ALTER COLUMN content SET STORAGE EXTENDED");
  }
}
