import type { MigrationInterface, QueryRunner } from "typeorm";

/**
 * Files that people upload, each in at most one chat, their bytes here or in an object store. What is taken away there
 * is written down first, by whatever way the row goes.
 */
export class Files1763700000016 implements MigrationInterface {
  readonly name = "Files1763700000016";

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE files
        ALTER COLUMN content DROP NOT NULL,
        ADD COLUMN chat_id uuid CONSTRAINT files_chat_fkey REFERENCES chats (id) ON DELETE CASCADE,
        -- When it was last given to its chat: the oldest go first.
        ADD COLUMN attached_at timestamptz,
        -- Null until its bytes have come.
        ADD COLUMN ready_at timestamptz,
        ADD COLUMN sha256 bytea,
        -- Where its bytes are in the object store; null when they are here.
        ADD COLUMN object_key text;
      UPDATE files SET ready_at = created_at, sha256 = sha256(content);
      UPDATE files f SET chat_id = used.chat_id, attached_at = f.created_at
        FROM (
          SELECT DISTINCT ON (path.value) path.value #>> '{}' AS file_id, m.chat_id
          FROM chat_messages m
          CROSS JOIN LATERAL (
            SELECT jsonb_path_query(m.content, 'lax $[*].files[*].fileId')
            UNION ALL SELECT jsonb_path_query(m.content, 'lax $[*].fileId')
            UNION ALL SELECT jsonb_path_query(m.content, 'lax $[*].file_id')
            UNION ALL SELECT jsonb_path_query(m.content, 'lax $[*].data.file_id')
          ) AS path(value)
          ORDER BY path.value, m.id
        ) used
        WHERE f.id::text = used.file_id;
      ALTER TABLE files ADD CONSTRAINT files_bytes_check
        CHECK ((ready_at IS NULL) = (content IS NULL AND object_key IS NULL));
      CREATE INDEX files_chat_idx ON files (chat_id, attached_at);
      CREATE INDEX files_loose_idx ON files (created_at) WHERE chat_id IS NULL;

      CREATE TABLE unwanted_objects (
        object_key text CONSTRAINT unwanted_objects_pkey PRIMARY KEY,
        -- An object that is being written is unwanted from here on, unless a file has claimed it.
        due_at timestamptz NOT NULL
      );
      CREATE INDEX unwanted_objects_due_idx ON unwanted_objects (due_at);

      CREATE FUNCTION note_unwanted_object() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO unwanted_objects (object_key, due_at) VALUES (OLD.object_key, now())
          ON CONFLICT (object_key) DO UPDATE SET due_at = excluded.due_at;
        RETURN NULL;
      END $$;
      CREATE TRIGGER files_unwanted_object AFTER DELETE ON files
        FOR EACH ROW WHEN (OLD.object_key IS NOT NULL) EXECUTE FUNCTION note_unwanted_object();
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TRIGGER files_unwanted_object ON files;
      DROP FUNCTION note_unwanted_object();
      DROP TABLE unwanted_objects;
      DELETE FROM files WHERE content IS NULL;
      DROP INDEX files_loose_idx;
      DROP INDEX files_chat_idx;
      ALTER TABLE files
        DROP CONSTRAINT files_bytes_check,
        DROP COLUMN object_key, DROP COLUMN sha256, DROP COLUMN ready_at, DROP COLUMN attached_at, DROP COLUMN chat_id,
        ALTER COLUMN content SET NOT NULL;
    `);
  }
}
