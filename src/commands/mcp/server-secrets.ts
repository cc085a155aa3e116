/** Seals and opens an MCP server's secrets. */
import type {
  StoredSecrets,
  HeadersUpdate,
  SecretUpdate,
  SecretUpdates,
} from "../../domain/mcp/auth-rules.js";
import type { McpServerRecord } from "../../store/mcp/mcp-servers.js";
import type { SecretBox } from "../../store/common/secret-box.js";
import { mcpColumnReference } from "../../store/common/secret-columns.js";

/** An element of the sealed JSON list in the column of custom headers. */
type CustomHeader = { name: string; value: string };

/** The stored secrets. Headers that cannot be decrypted count as missing, so their values must be entered again. */
export function readStoredSecrets(box: SecretBox, { id, sealed }: McpServerRecord): StoredSecrets {
  return {
    hasOauthClientSecret: sealed.oauthClientSecret !== null,
    hasApiKey: sealed.apiKey !== null,
    headerNames: openHeaders(box, id, sealed.customHeaders).map(({ name }) => name),
  };
}

/** `before`: null for a new server. */
export function sealSecrets(
  box: SecretBox,
  { id, before }: { id: string; before: McpServerRecord | null },
  wanted: SecretUpdates,
): McpServerRecord["sealed"] {
  const seal = (column: "oauth_client_secret" | "api_key", secret: SecretUpdate, current: string | null) => {
    if (secret === "keep") return current;
    return secret === "clear" ? null : box.seal(secret.set, mcpColumnReference(column, id));
  };
  const old = before?.sealed ?? null;
  return {
    oauthClientSecret: seal("oauth_client_secret", wanted.oauthClientSecret, old?.oauthClientSecret ?? null),
    // A dynamically registered client is dropped elsewhere, when the server becomes another one.
    oauthRegisteredSecret: old?.oauthRegisteredSecret ?? null,
    apiKey: seal("api_key", wanted.apiKey, old?.apiKey ?? null),
    customHeaders: sealHeaders(box, { id, current: old?.customHeaders ?? null }, wanted.customHeaders),
  };
}

function sealHeaders(
  box: SecretBox,
  { id, current }: { id: string; current: string | null },
  wanted: HeadersUpdate,
): string | null {
  if (wanted === "keep") return current;
  if (wanted === "clear") return null;
  const stored = openHeaders(box, id, current);
  const headers = wanted.headers.map(({ name, value }): CustomHeader => {
    const known = stored.find((it) => it.name.toLowerCase() === name.toLowerCase());
    return { name, value: value ?? known?.value ?? "" };
  });
  if (JSON.stringify(headers) === JSON.stringify(stored)) return current;
  return box.seal(JSON.stringify(headers), mcpColumnReference("custom_headers", id));
}

function openHeaders(box: SecretBox, id: string, sealed: string | null): CustomHeader[] {
  if (sealed === null) return [];
  const opened = box.open(sealed, mcpColumnReference("custom_headers", id));
  return opened.kind === "opened" ? (JSON.parse(opened.text) as CustomHeader[]) : [];
}
