/** A tool server's secrets on their way into and out of their columns. */
import type {
  StoredSecrets,
  WantedHeaders,
  WantedSecret,
  WantedSecrets,
} from "../../domain/mcp/auth-rules.js";
import type { McpServerRecord } from "../../store/mcp/mcp-servers.js";
import type { SecretBox } from "../../store/common/secret-box.js";
import { mcpSecretPlace } from "../../store/common/secret-columns.js";

/** As the column of custom headers keeps them, sealed: a JSON list. */
export type CustomHeader = { name: string; value: string };

/** What is there to be kept. Headers that cannot be opened any more are not: their values have to be given anew. */
export function readStoredSecrets(box: SecretBox, { id, sealed }: McpServerRecord): StoredSecrets {
  return {
    hasOauthClientSecret: sealed.oauthClientSecret !== null,
    hasApiKey: sealed.apiKey !== null,
    headerNames: openHeaders(box, id, sealed.customHeaders).map(({ name }) => name),
  };
}

/** `before`: null for a server that is made. */
export function sealSecrets(
  box: SecretBox,
  { id, before }: { id: string; before: McpServerRecord | null },
  wanted: WantedSecrets,
): McpServerRecord["sealed"] {
  const seal = (column: "oauth_client_secret" | "api_key", secret: WantedSecret, kept: string | null) => {
    if (secret === "keep") return kept;
    return secret === "clear" ? null : box.seal(secret.set, mcpSecretPlace(column, id));
  };
  const old = before?.sealed ?? null;
  return {
    oauthClientSecret: seal("oauth_client_secret", wanted.oauthClientSecret, old?.oauthClientSecret ?? null),
    // Whoever registered itself registers anew when the server becomes another one; that is decided there.
    oauthRegisteredSecret: old?.oauthRegisteredSecret ?? null,
    apiKey: seal("api_key", wanted.apiKey, old?.apiKey ?? null),
    customHeaders: sealHeaders(box, { id, kept: old?.customHeaders ?? null }, wanted.customHeaders),
  };
}

function sealHeaders(
  box: SecretBox,
  { id, kept }: { id: string; kept: string | null },
  wanted: WantedHeaders,
): string | null {
  if (wanted === "keep") return kept;
  if (wanted === "clear") return null;
  const stored = openHeaders(box, id, kept);
  const headers = wanted.headers.map(({ name, value }): CustomHeader => {
    const known = stored.find((it) => it.name.toLowerCase() === name.toLowerCase());
    return { name, value: value ?? known?.value ?? "" };
  });
  if (JSON.stringify(headers) === JSON.stringify(stored)) return kept;
  return box.seal(JSON.stringify(headers), mcpSecretPlace("custom_headers", id));
}

function openHeaders(box: SecretBox, id: string, sealed: string | null): CustomHeader[] {
  if (sealed === null) return [];
  const opened = box.open(sealed, mcpSecretPlace("custom_headers", id));
  return opened.kind === "opened" ? (JSON.parse(opened.text) as CustomHeader[]) : [];
}
