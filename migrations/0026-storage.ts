import type { MigrationInterface, QueryRunner } from "typeorm";

/**
 * How many bytes each chat stores, and how many a single user may store.
 *
 * Fast on a database of any size: it reads no message. Chats that exist already are counted by the servers in the
 * background, one after the other (src/engine/storage/storage-count.ts); until then they count as nothing.
 */
export class Storage1763700000026 implements MigrationInterface {
  readonly name = "Storage1763700000026";

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- Bytes of a chat's history, queue, files and client tools. Written by triggers, and for chats of older versions
      -- by the background count; a chat without a row has not been counted. Goes with its chat.
      CREATE TABLE chat_storage (
        chat_id uuid CONSTRAINT chat_storage_pkey PRIMARY KEY
          CONSTRAINT chat_storage_chat_fkey REFERENCES chats (id) ON DELETE CASCADE,
        owner_id uuid NOT NULL,
        bytes bigint NOT NULL
      )
      -- Each step of a chat updates its row; room on the page keeps that out of the indexes.
      WITH (fillfactor = 80);
      CREATE INDEX chat_storage_owner_idx ON chat_storage (owner_id);
      CREATE INDEX files_loose_owner_idx ON files (owner_id) WHERE chat_id IS NULL;

      CREATE TABLE storage_limit_overrides (
        user_id uuid CONSTRAINT storage_limit_overrides_pkey PRIMARY KEY
          CONSTRAINT storage_limit_overrides_user_fkey REFERENCES users (id) ON DELETE CASCADE,
        -- Null = no limit.
        limit_bytes bigint,
        updated_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT storage_limit_overrides_limit_check CHECK (limit_bytes >= 0)
      );

      -- One row, always there: how far the count of older chats has come.
      CREATE TABLE storage_count (
        is_only boolean DEFAULT true CONSTRAINT storage_count_pkey PRIMARY KEY,
        -- Chats up to this id are counted; null = none yet.
        counted_to uuid,
        is_done boolean NOT NULL,
        CONSTRAINT storage_count_only_check CHECK (is_only)
      );
      INSERT INTO storage_count (is_done) SELECT NOT EXISTS (SELECT 1 FROM chats);

      ${TRIGGERS}
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TRIGGER chats_storage_insert ON chats;
      DROP TRIGGER chat_messages_storage_insert ON chat_messages;
      DROP TRIGGER chat_messages_storage_delete ON chat_messages;
      DROP TRIGGER chat_queued_messages_storage_insert ON chat_queued_messages;
      DROP TRIGGER chat_queued_messages_storage_delete ON chat_queued_messages;
      DROP TRIGGER files_storage ON files;
      DROP FUNCTION begin_chat_storage(), add_stored_content(), subtract_stored_content(), count_stored_file(),
        stored_bytes(jsonb);
      DROP TABLE storage_count, storage_limit_overrides, chat_storage;
      DROP INDEX files_loose_owner_idx;
    `);
  }
}

/**
 * Triggers, and not part of the statements that write: whatever writes, a replica of an older version included, is
 * counted in the same transaction and without a statement of its own. Each locks the row of its own chat only, which
 * transitions hold anyway, so that many chats of one user never wait for each other.
 */
const TRIGGERS = `
      -- The same for a row that comes as for one that goes, unlike its size on disk, which compression decides.
      -- Empty content counts as nothing: rows of model calls without a message are written without the chat's lock,
      -- and must not wait for its storage row while they lock its row of the day.
      CREATE FUNCTION stored_bytes(content jsonb) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT CASE WHEN content = '[]'::jsonb THEN 0 ELSE octet_length(content::text) END::bigint
      $$;

      CREATE FUNCTION begin_chat_storage() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO chat_storage (chat_id, owner_id, bytes)
        VALUES (NEW.id, NEW.owner_id, stored_bytes(NEW.client_tools));
        RETURN NULL;
      END $$;
      CREATE TRIGGER chats_storage_insert AFTER INSERT ON chats
        FOR EACH ROW EXECUTE FUNCTION begin_chat_storage();

      CREATE FUNCTION add_stored_content() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        UPDATE chat_storage s SET bytes = s.bytes + a.bytes
        FROM (SELECT chat_id, sum(stored_bytes(content)) AS bytes FROM added GROUP BY chat_id) a
        WHERE s.chat_id = a.chat_id AND a.bytes > 0;
        RETURN NULL;
      END $$;
      CREATE TRIGGER chat_messages_storage_insert AFTER INSERT ON chat_messages
        REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION add_stored_content();
      CREATE TRIGGER chat_queued_messages_storage_insert AFTER INSERT ON chat_queued_messages
        REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION add_stored_content();

      -- Of a chat that is being deleted nothing is summed: its row goes with it.
      CREATE FUNCTION subtract_stored_content() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        UPDATE chat_storage s SET bytes = s.bytes - r.bytes
        FROM (
          SELECT removed.chat_id, sum(stored_bytes(removed.content)) AS bytes
          FROM removed JOIN chats c ON c.id = removed.chat_id GROUP BY removed.chat_id) r
        WHERE s.chat_id = r.chat_id AND r.bytes > 0;
        RETURN NULL;
      END $$;
      CREATE TRIGGER chat_messages_storage_delete AFTER DELETE ON chat_messages
        REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION subtract_stored_content();
      CREATE TRIGGER chat_queued_messages_storage_delete AFTER DELETE ON chat_queued_messages
        REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION subtract_stored_content();

      -- Files in no chat are few for each user and summed when the sum is read.
      CREATE FUNCTION count_stored_file() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF TG_OP = 'UPDATE' AND OLD.chat_id IS NOT DISTINCT FROM NEW.chat_id AND OLD.size_bytes = NEW.size_bytes THEN
          RETURN NULL;
        END IF;
        IF TG_OP <> 'INSERT' AND OLD.chat_id IS NOT NULL THEN
          UPDATE chat_storage SET bytes = bytes - OLD.size_bytes WHERE chat_id = OLD.chat_id;
        END IF;
        IF TG_OP <> 'DELETE' AND NEW.chat_id IS NOT NULL THEN
          UPDATE chat_storage SET bytes = bytes + NEW.size_bytes WHERE chat_id = NEW.chat_id;
        END IF;
        RETURN NULL;
      END $$;
      CREATE TRIGGER files_storage AFTER INSERT OR DELETE OR UPDATE OF chat_id, size_bytes ON files
        FOR EACH ROW EXECUTE FUNCTION count_stored_file();`;
