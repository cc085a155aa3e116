// A row with a sealed value in every secret column of the database, as the server itself would have written it.
import { randomUUID } from "node:crypto";
import type { Grant } from "../../../src/services/mcp/grant.js";
import type { SecretBox } from "../../../src/store/common/secret-box.js";
import { userKeyReference, providerKeyReference } from "../../../src/store/models/provider-keys.js";
import { mcpColumnReference, columnReference } from "../../../src/store/common/secret-columns.js";

/** Plain values by column; `git`: the connection to `sealed-rows.example`. */
export type SealedTexts = {
  git: string;
  oauthClientSecret: string;
  oauthRegisteredSecret: string;
  apiKey: string;
  customHeaders: string;
  accessToken: string;
  refreshToken: string;
  codeVerifier: string;
  identityAccessToken: string;
  identityRefreshToken: string;
  identityIdToken: string;
  providerKey: string;
  personalKey: string;
};

const SOME_TEXTS: SealedTexts = {
  git: "git",
  oauthClientSecret: "client secret",
  oauthRegisteredSecret: "registered secret",
  apiKey: "api key",
  customHeaders: '[{"name":"x-key","value":"header"}]',
  accessToken: "access token",
  refreshToken: "refresh token",
  codeVerifier: "code verifier",
  identityAccessToken: "access token of the identity",
  identityRefreshToken: "refresh token of the identity",
  identityIdToken: "id token of the identity",
  providerKey: "key of the provider",
  personalKey: "user's own key",
};

/** Inserts the rows for the first admin; returns how many values were sealed. */
export async function insertSealedRows(
  query: (text: string, values?: unknown[]) => Promise<unknown[]>,
  box: SecretBox,
  texts: SealedTexts = SOME_TEXTS,
): Promise<number> {
  const [git, server, connection, flow] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  const [owner] = (await query("SELECT id FROM users WHERE role = 'admin' ORDER BY created_at LIMIT 1")) as {
    id: string;
  }[];
  const gitToken = box.seal(texts.git, columnReference("git_connections", "token", git));
  await query(
    "INSERT INTO git_connections (id, user_id, host, token) VALUES ($1, $2, 'sealed-rows.example', $3)",
    [...[git, owner?.id, gitToken]],
  );
  await query(
    `INSERT INTO mcp_servers (id, slug, display_name, url, transport, auth_kind, oauth_client_secret,
       oauth_registered_secret, api_key, custom_headers)
     VALUES ($1, 'sealed-rows', 'Sealed', 'https://sealed-rows.example/mcp', 'streamable_http', 'oauth2', $2, $3, $4, $5)`,
    [
      server,
      box.seal(texts.oauthClientSecret, mcpColumnReference("oauth_client_secret", server)),
      box.seal(texts.oauthRegisteredSecret, mcpColumnReference("oauth_registered_secret", server)),
      box.seal(texts.apiKey, mcpColumnReference("api_key", server)),
      box.seal(texts.customHeaders, mcpColumnReference("custom_headers", server)),
    ],
  );
  const grant: Grant = {
    token: texts.accessToken,
    type: "Bearer",
    origin: "https://sealed-rows.example",
    tokenEndpoint: "https://auth.example/t",
    clientId: "parley",
  };
  await query(
    "INSERT INTO mcp_connections (id, user_id, server_id, access_token, refresh_token) VALUES ($1, $2, $3, $4, $5)",
    [
      ...[connection, owner?.id, server],
      box.seal(JSON.stringify(grant), columnReference("mcp_connections", "access_token", connection)),
      box.seal(texts.refreshToken, columnReference("mcp_connections", "refresh_token", connection)),
    ],
  );
  await query(
    `INSERT INTO mcp_oauth_flows (id, state_hash, user_id, server_id, server_version, code_verifier,
       authorization_url, redirect_uri, expires_at)
     VALUES ($1, $2, $3, $4, 1, $5, 'https://auth.example', 'https://here.example', now() + interval '1 hour')`,
    [
      ...[flow, Buffer.from(flow), owner?.id, server],
      box.seal(texts.codeVerifier, columnReference("mcp_oauth_flows", "code_verifier", flow)),
    ],
  );
  const identity = randomUUID();
  await query(
    `INSERT INTO user_identities (id, user_id, issuer, subject, access_token, refresh_token, id_token)
     VALUES ($1, $2, 'https://people.example', 'sealed-rows', $3, $4, $5)`,
    [
      ...[identity, owner?.id],
      box.seal(texts.identityAccessToken, columnReference("user_identities", "access_token", identity)),
      box.seal(texts.identityRefreshToken, columnReference("user_identities", "refresh_token", identity)),
      box.seal(texts.identityIdToken, columnReference("user_identities", "id_token", identity)),
    ],
  );
  const [provider, personal] = [randomUUID(), randomUUID()];
  await query(
    `INSERT INTO model_providers (id, kind, display_name, api_key, is_address_own, key_policy)
     VALUES ($1, 'openai', 'Sealed rows', $2, true, 'user_then_deployment')`,
    [provider, box.seal(texts.providerKey, providerKeyReference(provider))],
  );
  await query("INSERT INTO user_provider_keys (id, user_id, provider_id, api_key) VALUES ($1, $2, $3, $4)", [
    ...[personal, owner?.id, provider],
    box.seal(texts.personalKey, userKeyReference(personal)),
  ]);
  return Object.keys(texts).length;
}
