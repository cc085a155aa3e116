import type { MigrationInterface, QueryRunner } from "typeorm";

/** What models cost, and what was spent by whom on which day. */
export class Costs1763700000008 implements MigrationInterface {
  readonly name = "Costs1763700000008";

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- US dollars per million tokens; null = unpriced, 0 = free. The bound keeps the cost of any call within int8.
      ALTER TABLE model_configs
        ADD COLUMN price_input numeric(20,10),
        ADD COLUMN price_output numeric(20,10),
        ADD COLUMN price_cache_read numeric(20,10),
        ADD COLUMN price_cache_write numeric(20,10),
        ADD CONSTRAINT model_configs_price_check CHECK (
          (price_input IS NULL) = (price_output IS NULL)
          AND (price_input IS NOT NULL OR (price_cache_read IS NULL AND price_cache_write IS NULL))
          AND coalesce(price_input, 0) BETWEEN 0 AND 1000000
          AND coalesce(price_output, 0) BETWEEN 0 AND 1000000
          AND coalesce(price_cache_read, 0) BETWEEN 0 AND 1000000
          AND coalesce(price_cache_write, 0) BETWEEN 0 AND 1000000);

      -- Sums of the messages that models wrote, by day (UTC), chat and model. Written by triggers only.
      CREATE TABLE usage_days (
        owner_id uuid NOT NULL,
        day date NOT NULL,
        chat_id uuid NOT NULL CONSTRAINT usage_days_chat_fkey REFERENCES chats ON DELETE CASCADE,
        -- No foreign key: what was spent stays when a model is gone.
        model_config_id uuid NOT NULL,
        -- The chat that stands for its whole family.
        root_chat_id uuid NOT NULL,
        message_count bigint NOT NULL,
        priced_message_count bigint NOT NULL,
        unpriced_message_count bigint NOT NULL,
        cost_micros bigint NOT NULL,
        input_tokens bigint NOT NULL,
        output_tokens bigint NOT NULL,
        cache_read_tokens bigint NOT NULL,
        cache_write_tokens bigint NOT NULL,
        runtime_ms bigint NOT NULL,
        CONSTRAINT usage_days_pkey PRIMARY KEY (owner_id, day, chat_id, model_config_id)
      )
      -- Each step of a chat writes its row of the day anew; room on the page keeps that out of the indexes.
      WITH (fillfactor = 80);
      CREATE INDEX usage_days_root_idx ON usage_days (root_chat_id);
      CREATE INDEX usage_days_chat_idx ON usage_days (chat_id);
      CREATE INDEX usage_days_day_idx ON usage_days (day);

      -- For the part of a day that a range begins or ends with.
      CREATE INDEX chat_messages_spending_idx ON chat_messages (chat_id, created_at)
        WHERE role = 'assistant' AND model_config_id IS NOT NULL;

      ${FILL}

      ${TRIGGERS}
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TRIGGER chat_messages_spending_insert ON chat_messages;
      DROP TRIGGER chat_messages_spending_runtime ON chat_messages;
      DROP FUNCTION count_spending(), count_spending_runtime();
      DROP INDEX chat_messages_spending_idx;
      DROP TABLE usage_days;
      ALTER TABLE model_configs DROP CONSTRAINT model_configs_price_check, DROP COLUMN price_input,
        DROP COLUMN price_output, DROP COLUMN price_cache_read, DROP COLUMN price_cache_write;
    `);
  }
}

/** Counts every message that is there already; on an empty `usage_days` and without the triggers. */
export const FILL = `
      INSERT INTO usage_days (owner_id, day, chat_id, model_config_id, root_chat_id, message_count, priced_message_count,
        unpriced_message_count, cost_micros, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, runtime_ms)
      SELECT c.owner_id, (m.created_at AT TIME ZONE 'UTC')::date, c.id, m.model_config_id, c.id, count(*),
        count(m.cost_micros), count(*) FILTER (WHERE m.cost_micros IS NULL AND m.input_tokens IS NOT NULL),
        coalesce(sum(m.cost_micros), 0), coalesce(sum(m.input_tokens), 0), coalesce(sum(m.output_tokens), 0),
        coalesce(sum(m.cache_read_tokens), 0), coalesce(sum(m.cache_write_tokens), 0), coalesce(sum(m.runtime_ms), 0)
      FROM chat_messages m JOIN chats c ON c.id = m.chat_id
      WHERE m.role = 'assistant' AND m.model_config_id IS NOT NULL
      GROUP BY 1, 2, 3, 4;`;

/**
 * Triggers, and not part of the statements that write messages: whoever writes one, a replica of an older version
 * included, counts it in the same transaction. Each locks rows of its own chat only.
 */
export const TRIGGERS = `
      CREATE FUNCTION count_spending() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO usage_days AS u (owner_id, day, chat_id, model_config_id, root_chat_id, message_count,
          priced_message_count, unpriced_message_count, cost_micros, input_tokens, output_tokens, cache_read_tokens,
          cache_write_tokens, runtime_ms)
        SELECT c.owner_id, (NEW.created_at AT TIME ZONE 'UTC')::date, c.id, NEW.model_config_id, c.id, 1,
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
      END $$;
      CREATE TRIGGER chat_messages_spending_insert AFTER INSERT ON chat_messages
        FOR EACH ROW WHEN (NEW.role = 'assistant' AND NEW.model_config_id IS NOT NULL)
        EXECUTE FUNCTION count_spending();

      -- Of a message that is written, only its runtime ever changes: by its tools'.
      CREATE FUNCTION count_spending_runtime() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        UPDATE usage_days u SET runtime_ms = u.runtime_ms + coalesce(NEW.runtime_ms, 0) - coalesce(OLD.runtime_ms, 0)
        FROM chats c WHERE c.id = NEW.chat_id AND u.owner_id = c.owner_id
          AND u.day = (NEW.created_at AT TIME ZONE 'UTC')::date
          AND u.chat_id = NEW.chat_id AND u.model_config_id = NEW.model_config_id;
        RETURN NULL;
      END $$;
      CREATE TRIGGER chat_messages_spending_runtime AFTER UPDATE OF runtime_ms ON chat_messages
        FOR EACH ROW WHEN (NEW.role = 'assistant' AND NEW.model_config_id IS NOT NULL
          AND NEW.runtime_ms IS DISTINCT FROM OLD.runtime_ms)
        EXECUTE FUNCTION count_spending_runtime();`;
