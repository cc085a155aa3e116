/** Converts inputs of the mutations on MCP servers to command arguments. Pure. */
import type { McpAuthChange, SecretChange } from "../../domain/mcp/auth-rules.js";
import type { McpServerChange, NewMcpServer } from "../../domain/mcp/server-rules.js";
import type {
  CreateMcpServerInput,
  McpAuthInput,
  UpdateMcpServerInput,
} from "../../schema/mcp/mcp-server.input.js";
import type { SecretInput } from "../../schema/common/secret.input.js";

/** For a new server, null and absent both mean the default. */
export function readNewMcpServer(input: CreateMcpServerInput): NewMcpServer {
  const { slug, displayName, url, transport, auth, ...rest } = input;
  const given = Object.entries(rest).filter(([, value]) => value !== null && value !== undefined);
  return {
    ...(Object.fromEntries(given) as McpServerChange),
    slug,
    displayName,
    url,
    transport,
    auth: readAuth(auth),
  };
}

export function readMcpServerChange({
  serverId: _serverId,
  auth,
  ...rest
}: UpdateMcpServerInput): McpServerChange {
  return { ...rest, auth: auth && readAuth(auth) };
}

/** The schema guarantees that exactly one field is set. */
function readAuth(input: McpAuthInput): McpAuthChange {
  const { none, userIdentity, oauth2, apiKey, headers } = input;
  if (oauth2) {
    const { clientId, clientSecret, authorizeUrl, tokenUrl, scopes } = oauth2;
    return {
      kind: "oauth2",
      ...(clientId === undefined ? {} : { clientId }),
      ...(authorizeUrl === undefined ? {} : { authorizeUrl }),
      ...(tokenUrl === undefined ? {} : { tokenUrl }),
      ...(scopes === undefined ? {} : { scopes: scopes ?? [] }),
      ...(clientSecret === undefined ? {} : { clientSecret: readSecret(clientSecret) }),
    };
  }
  if (apiKey) {
    const { header, value } = apiKey;
    return {
      kind: "api_key",
      ...(header === undefined ? {} : { header: header ?? "" }),
      ...(value === undefined ? {} : { value: readSecret(value) }),
    };
  }
  if (headers) {
    const read = headers.map(({ name, value }) =>
      value == null ? { name } : { name, value: readSecret(value) },
    );
    return { kind: "custom_headers", headers: read };
  }
  if (userIdentity !== undefined) return { kind: "user_identity", isConfirmed: userIdentity };
  return { kind: "none", isConfirmed: none ?? false };
}

/** Null clears the value. */
function readSecret(secret: SecretInput | null): SecretChange {
  return secret === null ? { clear: true } : { set: secret.set, clear: secret.clear };
}
