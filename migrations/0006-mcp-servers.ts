import type { MigrationInterface, QueryRunner } from "typeorm";

/** Tool servers that admins register, people's authorisations for them, chats' choice of them, and the audit log. */
export class McpServers1763700000006 implements MigrationInterface {
  readonly name = "McpServers1763700000006";

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TYPE mcp_transport AS ENUM ('streamable_http', 'sse');
      CREATE TYPE mcp_auth_kind AS ENUM ('none', 'oauth2', 'api_key', 'custom_headers', 'user_identity');
      CREATE TYPE mcp_availability AS ENUM ('force_on', 'default_on', 'default_off');

      CREATE TABLE mcp_servers (
        id uuid CONSTRAINT mcp_servers_pkey PRIMARY KEY,
        slug text NOT NULL CONSTRAINT mcp_servers_slug_key UNIQUE,
        display_name text NOT NULL,
        description text NOT NULL DEFAULT '',
        icon_url text,
        url text NOT NULL,
        transport mcp_transport NOT NULL,
        auth_kind mcp_auth_kind NOT NULL,
        -- What an admin gave; where they gave nothing, oauth_discovered has what the server's own metadata told.
        oauth_client_id text,
        -- Sealed by src/store/secret-box.ts, like every column named so below.
        oauth_client_secret text,
        oauth_authorize_url text,
        oauth_token_url text,
        oauth_scopes text[] NOT NULL DEFAULT '{}',
        oauth_discovered jsonb,
        -- Sealed: the secret of a client that registered itself.
        oauth_registered_secret text,
        api_key_header text,
        -- Sealed.
        api_key text,
        -- Sealed: a JSON list of names and values.
        custom_headers text,
        tool_allow_list text[] NOT NULL DEFAULT '{}',
        tool_deny_list text[] NOT NULL DEFAULT '{}',
        availability mcp_availability NOT NULL DEFAULT 'default_off',
        is_enabled boolean NOT NULL DEFAULT false,
        -- Whether it may live on this machine or in a private network.
        allows_private_addresses boolean NOT NULL DEFAULT false,
        -- Grows with every change: what was made of an older one is not used any more.
        version bigint NOT NULL DEFAULT 1,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now(),
        created_by uuid CONSTRAINT mcp_servers_created_by_fkey REFERENCES users (id) ON DELETE SET NULL,
        updated_by uuid CONSTRAINT mcp_servers_updated_by_fkey REFERENCES users (id) ON DELETE SET NULL
      );

      CREATE TABLE mcp_connections (
        id uuid CONSTRAINT mcp_connections_pkey PRIMARY KEY,
        user_id uuid NOT NULL CONSTRAINT mcp_connections_user_fkey REFERENCES users (id) ON DELETE CASCADE,
        server_id uuid NOT NULL CONSTRAINT mcp_connections_server_fkey REFERENCES mcp_servers (id) ON DELETE CASCADE,
        -- Sealed, both.
        access_token text NOT NULL,
        refresh_token text,
        scopes text[] NOT NULL DEFAULT '{}',
        expires_at timestamptz,
        connected_at timestamptz NOT NULL DEFAULT now(),
        refreshed_at timestamptz,
        -- Who renews the token now, and until when nobody else does.
        refresh_claim uuid,
        refresh_claimed_until timestamptz,
        -- Why it cannot be renewed any more without the person.
        refresh_failure text,
        CONSTRAINT mcp_connections_person_key UNIQUE (user_id, server_id)
      );
      CREATE INDEX mcp_connections_server_idx ON mcp_connections (server_id);

      -- Authorisations that were begun and are not finished.
      CREATE TABLE mcp_oauth_flows (
        id uuid CONSTRAINT mcp_oauth_flows_pkey PRIMARY KEY,
        -- SHA-256 of the state that the authorisation server sends back.
        state_hash bytea NOT NULL CONSTRAINT mcp_oauth_flows_state_key UNIQUE,
        -- SHA-256 of what the browser shows that went on with it; null until one did.
        browser_hash bytea,
        user_id uuid NOT NULL CONSTRAINT mcp_oauth_flows_user_fkey REFERENCES users (id) ON DELETE CASCADE,
        server_id uuid NOT NULL CONSTRAINT mcp_oauth_flows_server_fkey REFERENCES mcp_servers (id) ON DELETE CASCADE,
        server_version bigint NOT NULL,
        -- Sealed.
        code_verifier text NOT NULL,
        authorization_url text NOT NULL,
        redirect_uri text NOT NULL,
        return_to text,
        expires_at timestamptz NOT NULL
      );
      CREATE INDEX mcp_oauth_flows_expiry_idx ON mcp_oauth_flows (expires_at);
      CREATE INDEX mcp_oauth_flows_user_idx ON mcp_oauth_flows (user_id);
      CREATE INDEX mcp_oauth_flows_server_idx ON mcp_oauth_flows (server_id);

      -- Ids of servers that are gone stay where they are and count for nothing.
      ALTER TABLE chats ADD COLUMN mcp_server_ids uuid[] NOT NULL DEFAULT '{}';
      -- A message's choice, which the chat takes over when the message enters history; null = the chat's.
      ALTER TABLE chat_queued_messages ADD COLUMN mcp_server_ids uuid[];
      -- The choice that held when a person's message entered history; null for other messages.
      ALTER TABLE chat_messages ADD COLUMN mcp_server_ids uuid[];

      CREATE TABLE audit_log (
        id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT audit_log_pkey PRIMARY KEY,
        at timestamptz NOT NULL DEFAULT now(),
        -- No foreign keys: what was done outlives who did it, and what it was done to. Null = the server's operator.
        actor_id uuid,
        actor_name text NOT NULL,
        action text NOT NULL,
        target_kind text NOT NULL,
        target_id text,
        target_name text,
        -- Per changed field: the value before and after; of secrets only that they were set or cleared.
        changes jsonb NOT NULL DEFAULT '{}',
        request_id text
      );
      CREATE INDEX audit_log_actor_idx ON audit_log (actor_id, id);
      CREATE INDEX audit_log_target_idx ON audit_log (target_kind, target_id, id);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE audit_log;
      ALTER TABLE chat_messages DROP COLUMN mcp_server_ids;
      ALTER TABLE chat_queued_messages DROP COLUMN mcp_server_ids;
      ALTER TABLE chats DROP COLUMN mcp_server_ids;
      DROP TABLE mcp_oauth_flows, mcp_connections, mcp_servers;
      DROP TYPE mcp_availability, mcp_auth_kind, mcp_transport;
    `);
  }
}
