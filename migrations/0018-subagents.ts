import type { MigrationInterface, QueryRunner } from "typeorm";

/** Chats that agents start, and what they spend as part of their family's. */
export class Subagents1763700000018 implements MigrationInterface {
  readonly name = "Subagents1763700000018";

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- All null, and depth 0, for a chat that a person started; a replica of an older version starts no others.
      ALTER TABLE chats
        ADD COLUMN parent_chat_id uuid CONSTRAINT chats_parent_fkey REFERENCES chats (id) ON DELETE CASCADE,
        ADD COLUMN root_chat_id uuid CONSTRAINT chats_root_fkey REFERENCES chats (id) ON DELETE CASCADE,
        ADD COLUMN subagent_kind text,
        ADD COLUMN depth integer NOT NULL DEFAULT 0,
        ADD CONSTRAINT chats_family_check CHECK (
          (parent_chat_id IS NULL) = (root_chat_id IS NULL) AND (parent_chat_id IS NULL) = (subagent_kind IS NULL)
          AND (parent_chat_id IS NULL) = (depth = 0) AND depth >= 0 AND parent_chat_id <> id AND root_chat_id <> id),
        ADD CONSTRAINT chats_subagent_kind_check CHECK (subagent_kind IN ('general', 'explore'));
      CREATE INDEX chats_parent_idx ON chats (parent_chat_id) WHERE parent_chat_id IS NOT NULL;
      CREATE INDEX chats_root_idx ON chats (root_chat_id) WHERE root_chat_id IS NOT NULL;

      ${countSpending("coalesce(c.root_chat_id, c.id)")}
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ${countSpending("c.id")}
      UPDATE usage_days SET root_chat_id = chat_id WHERE root_chat_id <> chat_id;
      DROP INDEX chats_parent_idx, chats_root_idx;
      ALTER TABLE chats DROP CONSTRAINT chats_family_check, DROP CONSTRAINT chats_subagent_kind_check,
        DROP COLUMN parent_chat_id, DROP COLUMN root_chat_id, DROP COLUMN subagent_kind, DROP COLUMN depth;
    `);
  }
}

/** The function of the trigger on new messages, as 0008 made it, with another chat that stands for the family. */
function countSpending(root: string): string {
  return `
      CREATE OR REPLACE FUNCTION count_spending() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO usage_days AS u (owner_id, day, chat_id, model_config_id, root_chat_id, message_count,
          priced_message_count, unpriced_message_count, cost_micros, input_tokens, output_tokens, cache_read_tokens,
          cache_write_tokens, runtime_ms)
        SELECT c.owner_id, (NEW.created_at AT TIME ZONE 'UTC')::date, c.id, NEW.model_config_id, ${root}, 1,
          (NEW.cost_micros IS NOT NULL)::int, (NEW.cost_micros IS NULL AND NEW.input_tokens IS NOT NULL)::int,
          coalesce(NEW.cost_micros, 0), coalesce(NEW.input_tokens, 0), coalesce(NEW.output_tokens, 0),
          coalesce(NEW.cache_read_tokens, 0), coalesce(NEW.cache_write_tokens, 0), coalesce(NEW.runtime_ms, 0)
        FROM chats c WHERE c.id = NEW.chat_id
        ON CONFLICT (owner_id, day, chat_id, model_config_id) DO UPDATE SET
          message_count = u.message_count + 1,
          priced_message_count = u.priced_message_count + excluded.priced_message_count,
          unpriced_message_count = u.unpriced_message_count + excluded.unpriced_message_count,
          cost_micros = u.cost_micros + excluded.cost_micros,
          input_tokens = u.input_tokens + excluded.input_tokens,
          output_tokens = u.output_tokens + excluded.output_tokens,
          cache_read_tokens = u.cache_read_tokens + excluded.cache_read_tokens,
          cache_write_tokens = u.cache_write_tokens + excluded.cache_write_tokens,
          runtime_ms = u.runtime_ms + excluded.runtime_ms;
        RETURN NULL;
      END $$;`;
}
