import type { MigrationInterface, QueryRunner } from "typeorm";

/** People, chats with their history and queue, models, workspaces, files and settings. */
export class Foundation1763700000001 implements MigrationInterface {
  readonly name = "Foundation1763700000001";

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TYPE user_role AS ENUM ('member', 'admin');
      CREATE TYPE chat_status AS ENUM ('waiting', 'pending', 'running', 'interrupting', 'requires_action', 'error');
      CREATE TYPE message_role AS ENUM ('system', 'user', 'assistant', 'tool');
      CREATE TYPE message_visibility AS ENUM ('user', 'model', 'both');
      CREATE TYPE model_provider_kind AS ENUM ('anthropic', 'openai', 'openai_compatible');
      CREATE TYPE workspace_provisioner AS ENUM ('local');
      CREATE TYPE workspace_status AS ENUM ('stopped', 'starting', 'running', 'stopping', 'failed');

      CREATE TABLE users (
        id uuid CONSTRAINT users_pkey PRIMARY KEY,
        username text NOT NULL CONSTRAINT users_username_key UNIQUE,
        name text NOT NULL,
        role user_role NOT NULL DEFAULT 'member',
        created_at timestamptz NOT NULL DEFAULT now()
      );

      CREATE TABLE api_tokens (
        id uuid CONSTRAINT api_tokens_pkey PRIMARY KEY,
        user_id uuid NOT NULL CONSTRAINT api_tokens_user_fkey REFERENCES users ON DELETE CASCADE,
        name text NOT NULL,
        -- SHA-256 of the token; the token itself is 256 random bits, so no salt or slow hash is needed.
        token_hash bytea NOT NULL CONSTRAINT api_tokens_token_hash_key UNIQUE,
        created_at timestamptz NOT NULL DEFAULT now(),
        last_used_at timestamptz,
        expires_at timestamptz
      );
      CREATE INDEX api_tokens_user_idx ON api_tokens (user_id);

      CREATE TABLE model_providers (
        id uuid CONSTRAINT model_providers_pkey PRIMARY KEY,
        kind model_provider_kind NOT NULL,
        display_name text NOT NULL,
        base_url text,
        -- Which wire format an OpenAI provider speaks: 'responses' or 'chat'.
        openai_api text NOT NULL DEFAULT 'responses'
          CONSTRAINT model_providers_openai_api_check CHECK (openai_api IN ('responses', 'chat')),
        -- Where the key comes from: the named environment variable, read at each start; null = no key is needed.
        api_key_variable text,
        -- The embedded demo model's provider gets its address anew at each start.
        is_demo boolean NOT NULL DEFAULT false,
        is_enabled boolean NOT NULL DEFAULT true,
        created_at timestamptz NOT NULL DEFAULT now()
      );

      CREATE TABLE model_configs (
        id uuid CONSTRAINT model_configs_pkey PRIMARY KEY,
        provider_id uuid NOT NULL CONSTRAINT model_configs_provider_fkey REFERENCES model_providers ON DELETE CASCADE,
        model text NOT NULL,
        display_name text NOT NULL,
        context_limit integer NOT NULL CONSTRAINT model_configs_context_limit_check CHECK (context_limit > 0),
        compaction_threshold_percent smallint NOT NULL DEFAULT 70
          CONSTRAINT model_configs_threshold_check CHECK (compaction_threshold_percent BETWEEN 0 AND 100),
        max_output_tokens integer,
        is_enabled boolean NOT NULL DEFAULT true,
        is_default boolean NOT NULL DEFAULT false,
        created_at timestamptz NOT NULL DEFAULT now()
      );
      CREATE INDEX model_configs_provider_idx ON model_configs (provider_id);
      CREATE UNIQUE INDEX model_configs_default_key ON model_configs (is_default) WHERE is_default;

      CREATE TABLE workspaces (
        id uuid CONSTRAINT workspaces_pkey PRIMARY KEY,
        owner_id uuid NOT NULL CONSTRAINT workspaces_owner_fkey REFERENCES users ON DELETE CASCADE,
        name text NOT NULL,
        provisioner workspace_provisioner NOT NULL,
        -- LOCAL: the absolute directory that the agent serves.
        directory text NOT NULL,
        status workspace_status NOT NULL,
        failure text,
        created_at timestamptz NOT NULL DEFAULT now(),
        last_used_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT workspaces_place_key UNIQUE (owner_id, provisioner, directory)
      );

      CREATE TABLE chats (
        id uuid CONSTRAINT chats_pkey PRIMARY KEY,
        owner_id uuid NOT NULL CONSTRAINT chats_owner_fkey REFERENCES users ON DELETE CASCADE,
        -- metadata: edited freely
        title text NOT NULL,
        model_config_id uuid CONSTRAINT chats_model_config_fkey REFERENCES model_configs ON DELETE SET NULL,
        workspace_id uuid CONSTRAINT chats_workspace_fkey REFERENCES workspaces ON DELETE SET NULL,
        reasoning_effort text,
        client_tools jsonb NOT NULL DEFAULT '[]',
        labels jsonb NOT NULL DEFAULT '{}',
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now(),
        -- execution state: written by transitions only (src/engine/state)
        status chat_status NOT NULL,
        archived_at timestamptz,
        worker_id uuid,
        runner_id uuid,
        snapshot_version bigint NOT NULL,
        history_version bigint NOT NULL,
        reset_version bigint NOT NULL,
        queue_version bigint NOT NULL,
        status_version bigint NOT NULL,
        retry_version bigint NOT NULL,
        attempt integer NOT NULL,
        retry_state jsonb,
        last_error jsonb,
        action_deadline_at timestamptz,
        compaction_requested_at timestamptz,
        open_calls jsonb NOT NULL DEFAULT '[]',
        queued_ids uuid[] NOT NULL DEFAULT '{}',
        CONSTRAINT chats_runner_check CHECK ((runner_id IS NULL) = (worker_id IS NULL)),
        CONSTRAINT chats_runner_status_check CHECK ((runner_id IS NOT NULL) = (status IN ('running', 'interrupting'))),
        CONSTRAINT chats_deadline_check CHECK ((action_deadline_at IS NOT NULL) = (status = 'requires_action'))
      )
      -- Every transition writes the row anew; room on its page keeps most of that out of the indexes.
      WITH (fillfactor = 80);
      CREATE INDEX chats_owner_updated_idx ON chats (owner_id, updated_at DESC, id DESC);
      CREATE INDEX chats_owner_created_idx ON chats (owner_id, created_at DESC, id DESC);
      CREATE INDEX chats_pending_idx ON chats (updated_at, id) WHERE status = 'pending';
      CREATE INDEX chats_worker_idx ON chats (worker_id) WHERE worker_id IS NOT NULL;
      CREATE INDEX chats_deadline_idx ON chats (action_deadline_at) WHERE action_deadline_at IS NOT NULL;

      CREATE TABLE chat_messages (
        id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT chat_messages_pkey PRIMARY KEY,
        chat_id uuid NOT NULL CONSTRAINT chat_messages_chat_fkey REFERENCES chats ON DELETE CASCADE,
        role message_role NOT NULL,
        visibility message_visibility NOT NULL,
        content_version smallint NOT NULL,
        content jsonb NOT NULL,
        -- No foreign keys: people and models are never deleted physically, and every message of a deployment
        -- would take a lock on the same few rows of theirs.
        author_id uuid,
        model_config_id uuid,
        reasoning_effort text,
        input_tokens integer,
        output_tokens integer,
        reasoning_tokens integer,
        cache_read_tokens integer,
        cache_write_tokens integer,
        cost_micros bigint,
        runtime_ms integer,
        generation text,
        is_summary boolean NOT NULL DEFAULT false,
        revision bigint NOT NULL,
        is_deleted boolean NOT NULL DEFAULT false,
        created_at timestamptz NOT NULL DEFAULT now()
      );
      CREATE INDEX chat_messages_history_idx ON chat_messages (chat_id, id) WHERE NOT is_deleted;
      CREATE INDEX chat_messages_revision_idx ON chat_messages (chat_id, revision);

      CREATE TABLE chat_queued_messages (
        id uuid CONSTRAINT chat_queued_messages_pkey PRIMARY KEY,
        chat_id uuid NOT NULL CONSTRAINT chat_queued_messages_chat_fkey REFERENCES chats ON DELETE CASCADE,
        author_id uuid NOT NULL CONSTRAINT chat_queued_messages_author_fkey REFERENCES users ON DELETE CASCADE,
        model_config_id uuid CONSTRAINT chat_queued_messages_model_config_fkey REFERENCES model_configs ON DELETE SET NULL,
        reasoning_effort text,
        content_version smallint NOT NULL,
        content jsonb NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
      );
      CREATE INDEX chat_queued_messages_chat_idx ON chat_queued_messages (chat_id);

      -- One row per server process. A chat whose worker has no living lease may be taken over.
      CREATE TABLE worker_leases (
        worker_id uuid CONSTRAINT worker_leases_pkey PRIMARY KEY,
        started_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL
      );

      CREATE TABLE idempotency_keys (
        user_id uuid NOT NULL CONSTRAINT idempotency_keys_user_fkey REFERENCES users ON DELETE CASCADE,
        key text NOT NULL,
        chat_id uuid NOT NULL CONSTRAINT idempotency_keys_chat_fkey REFERENCES chats ON DELETE CASCADE,
        message_id bigint,
        queued_id uuid,
        version bigint NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT idempotency_keys_pkey PRIMARY KEY (user_id, key)
      );
      CREATE INDEX idempotency_keys_queued_idx ON idempotency_keys (queued_id) WHERE queued_id IS NOT NULL;

      CREATE TABLE files (
        id uuid CONSTRAINT files_pkey PRIMARY KEY,
        owner_id uuid NOT NULL CONSTRAINT files_owner_fkey REFERENCES users ON DELETE CASCADE,
        name text NOT NULL,
        media_type text NOT NULL,
        size_bytes bigint NOT NULL,
        content bytea NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
      );
      CREATE INDEX files_owner_idx ON files (owner_id);

      CREATE TABLE settings (
        key text CONSTRAINT settings_pkey PRIMARY KEY,
        value jsonb NOT NULL,
        updated_at timestamptz NOT NULL DEFAULT now(),
        updated_by uuid CONSTRAINT settings_updated_by_fkey REFERENCES users ON DELETE SET NULL
      );
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE settings, files, idempotency_keys, worker_leases, chat_queued_messages, chat_messages, chats,
        workspaces, model_configs, model_providers, api_tokens, users;
      DROP TYPE workspace_status, workspace_provisioner, model_provider_kind, message_visibility, message_role,
        chat_status, user_role;
    `);
  }
}
