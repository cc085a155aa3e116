import type { MigrationInterface, QueryRunner } from "typeorm";

/**
 * The usage ledger: one row per model call. Until now calls without a message (titles, failed attempts) were billed as
 * rows of `chat_messages` that were born deleted; those move here and leave the history.
 *
 * Reads every assistant message once, and blocks writes to `chat_messages` while it does, so that nothing is counted twice
 * or lost. `usage_days` keeps its sums: they are fed by the ledger from now on, with the same functions.
 */
export class ModelCalls1763700000027 implements MigrationInterface {
  readonly name = "ModelCalls1763700000027";

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      LOCK TABLE chat_messages IN SHARE ROW EXCLUSIVE MODE;

      CREATE TABLE model_calls (
        id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT model_calls_pkey PRIMARY KEY,
        chat_id uuid NOT NULL CONSTRAINT model_calls_chat_fkey REFERENCES chats (id) ON DELETE CASCADE,
        -- The message that the call became; null = it left none. Messages go only with their chat.
        message_id bigint,
        -- The user who pays.
        owner_id uuid NOT NULL,
        -- No foreign key: what was spent stays when a model is gone.
        model_config_id uuid NOT NULL,
        -- Null = a call without a message from before this table.
        purpose text,
        input_tokens integer,
        output_tokens integer,
        reasoning_tokens integer,
        cache_read_tokens integer,
        cache_write_tokens integer,
        is_usage_estimated boolean NOT NULL DEFAULT false,
        -- Millionths of a US dollar; null = unpriced.
        cost_micros bigint,
        runtime_ms integer,
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT model_calls_purpose_check CHECK (purpose IN ('step', 'compaction', 'title'))
      )
      -- Tools add their runtime to the call that asked for them; room on the page keeps that out of the indexes.
      WITH (fillfactor = 90);

      ${FILL_MODEL_CALLS}

      CREATE UNIQUE INDEX model_calls_message_key ON model_calls (message_id) WHERE message_id IS NOT NULL;
      -- For the part of a day that a range begins or ends with.
      CREATE INDEX model_calls_chat_idx ON model_calls (chat_id, created_at);

      DROP TRIGGER chat_messages_spending_insert ON chat_messages;
      DROP TRIGGER chat_messages_spending_runtime ON chat_messages;
      DELETE FROM chat_messages m WHERE ${WITHOUT_MESSAGE};
      DROP INDEX chat_messages_spending_idx;

      ${TRIGGERS}
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      LOCK TABLE chat_messages IN SHARE ROW EXCLUSIVE MODE;
      DROP TRIGGER chat_messages_model_call_insert ON chat_messages;
      DROP TRIGGER chat_messages_model_call_runtime ON chat_messages;
      DROP FUNCTION insert_model_call(), update_model_call_runtime();

      INSERT INTO chat_messages (chat_id, role, visibility, content_version, content, model_config_id, input_tokens,
        output_tokens, reasoning_tokens, cache_read_tokens, cache_write_tokens, is_usage_estimated, cost_micros,
        runtime_ms, revision, is_deleted, created_at)
      SELECT m.chat_id, 'assistant', 'model', 1, '[]', m.model_config_id, m.input_tokens, m.output_tokens,
        m.reasoning_tokens, m.cache_read_tokens, m.cache_write_tokens, m.is_usage_estimated, m.cost_micros,
        m.runtime_ms, c.snapshot_version, true, m.created_at
      FROM model_calls m JOIN chats c ON c.id = m.chat_id WHERE m.message_id IS NULL ORDER BY m.id;
      DROP TABLE model_calls;

      CREATE INDEX chat_messages_spending_idx ON chat_messages (chat_id, created_at)
        WHERE role = 'assistant' AND model_config_id IS NOT NULL;
      CREATE TRIGGER chat_messages_spending_insert AFTER INSERT ON chat_messages
        FOR EACH ROW WHEN (NEW.role = 'assistant' AND NEW.model_config_id IS NOT NULL)
        EXECUTE FUNCTION count_spending();
      CREATE TRIGGER chat_messages_spending_runtime AFTER UPDATE OF runtime_ms ON chat_messages
        FOR EACH ROW WHEN (NEW.role = 'assistant' AND NEW.model_config_id IS NOT NULL
          AND NEW.runtime_ms IS DISTINCT FROM OLD.runtime_ms)
        EXECUTE FUNCTION count_spending_runtime();
    `);
  }
}

/** A row of `chat_messages` that only bills a call: earlier versions wrote these, and nothing else looks like them. */
const WITHOUT_MESSAGE = `(m.role = 'assistant' AND m.visibility = 'model' AND m.is_deleted
        AND m.model_config_id IS NOT NULL AND m.generation IS NULL AND NOT m.is_summary AND m.content = '[]'::jsonb)`;

/** Enters every message `m` of a model and chat `c`. Of the calls without a message only titles had a runtime. */
const insertCalls = (messages: string) => `
      INSERT INTO model_calls (chat_id, message_id, owner_id, model_config_id, purpose, input_tokens, output_tokens,
        reasoning_tokens, cache_read_tokens, cache_write_tokens, is_usage_estimated, cost_micros, runtime_ms, created_at)
      SELECT m.chat_id, CASE WHEN NOT ${WITHOUT_MESSAGE} THEN m.id END, c.owner_id, m.model_config_id,
        CASE WHEN NOT ${WITHOUT_MESSAGE} THEN CASE WHEN m.is_summary THEN 'compaction' ELSE 'step' END
          WHEN m.runtime_ms IS NOT NULL THEN 'title' END,
        m.input_tokens, m.output_tokens, m.reasoning_tokens, m.cache_read_tokens, m.cache_write_tokens,
        m.is_usage_estimated, m.cost_micros, m.runtime_ms, m.created_at
      FROM ${messages} JOIN chats c ON c.id = m.chat_id
      WHERE m.role = 'assistant' AND m.model_config_id IS NOT NULL`;

/** Enters the calls of all messages that exist; into an empty table, without triggers. */
export const FILL_MODEL_CALLS = `${insertCalls("chat_messages m")} ORDER BY m.id;`;

/**
 * Triggers, and not part of the statements that write messages: several do, and replicas of an older version write
 * beside this one during an upgrade. Their billing rows are entered and removed within the same statement.
 */
const TRIGGERS = `
      CREATE FUNCTION insert_model_call() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        ${insertCalls("(SELECT NEW.*) m")};
        IF NEW.is_deleted AND NEW.content = '[]'::jsonb THEN
          DELETE FROM chat_messages m WHERE m.id = NEW.id AND ${WITHOUT_MESSAGE};
        END IF;
        RETURN NULL;
      END $$;
      CREATE TRIGGER chat_messages_model_call_insert AFTER INSERT ON chat_messages
        FOR EACH ROW WHEN (NEW.role = 'assistant' AND NEW.model_config_id IS NOT NULL)
        EXECUTE FUNCTION insert_model_call();

      -- Of a message that is written, only its runtime ever changes: by its tools'.
      CREATE FUNCTION update_model_call_runtime() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        UPDATE model_calls SET runtime_ms = NEW.runtime_ms WHERE message_id = NEW.id;
        RETURN NULL;
      END $$;
      CREATE TRIGGER chat_messages_model_call_runtime AFTER UPDATE OF runtime_ms ON chat_messages
        FOR EACH ROW WHEN (NEW.role = 'assistant' AND NEW.model_config_id IS NOT NULL
          AND NEW.runtime_ms IS DISTINCT FROM OLD.runtime_ms)
        EXECUTE FUNCTION update_model_call_runtime();

      CREATE TRIGGER model_calls_spending_insert AFTER INSERT ON model_calls
        FOR EACH ROW EXECUTE FUNCTION count_spending();
      CREATE TRIGGER model_calls_spending_runtime AFTER UPDATE OF runtime_ms ON model_calls
        FOR EACH ROW WHEN (NEW.runtime_ms IS DISTINCT FROM OLD.runtime_ms)
        EXECUTE FUNCTION count_spending_runtime();`;
