/** Composition of users' authorizations for MCP servers: for turns, commands and browsers. */
import { Authorizations } from "../services/mcp/authorization.js";
import { OauthFlows } from "../services/mcp/oauth-flows.js";
import type { McpOauthRoutesOptions } from "../http/auth/mcp-oauth.js";
import { mcpOauthAddresses } from "../http/auth/mcp-oauth.js";
import { clientDocument } from "../mcp/oauth.js";
import type { Closers } from "./closers.js";
import type { Clock } from "../lib/clock.js";
import type { Log } from "../lib/log.js";
import type { OutboundFetch } from "../lib/outbound/outbound-fetch.js";
import type { Database } from "../store/common/database.js";
import type { SecretBox } from "../store/common/secret-box.js";

/** Metadata and tokens have a few thousand bytes. */
const MAX_ANSWER_BYTES = 1_048_576;
/** Above the steps' own timeouts, which abort their requests first. */
const ANSWER_LIMIT_MS = 15_000;

type McpAccountDependencies = {
  database: Database;
  secrets: SecretBox;
  outbound: OutboundFetch;
  clock: Clock;
  log: Log;
};

/** Dependencies shared by authorizations and flows. */
function oauthDependencies({ database, secrets, outbound, clock, log }: McpAccountDependencies) {
  return {
    ...{ database, secrets, clock, log },
    fetchFor: ({ allowsPrivateAddresses }: { allowsPrivateAddresses: boolean }) =>
      outbound.for({
        isPrivateAllowed: allowsPrivateAddresses,
        timeoutMs: ANSWER_LIMIT_MS,
        maxBodyBytes: MAX_ANSWER_BYTES,
      }),
  };
}

export function openMcpAuthorization(
  dependencies: McpAccountDependencies & { identityTokenOf: (userId: string) => Promise<string | null> },
  closers: Closers,
): Authorizations {
  const authorizations = new Authorizations({
    ...oauthDependencies(dependencies),
    identityTokenOf: dependencies.identityTokenOf,
  });
  closers.add("the renewal of MCP servers' tokens", () => authorizations.close());
  return authorizations;
}

/** `publicUrl` may be unknown until the server listens. */
export function mcpAccounts(dependencies: McpAccountDependencies, publicUrl: () => string) {
  const addresses = () => mcpOauthAddresses(publicUrl());
  const flows = new OauthFlows({ ...oauthDependencies(dependencies), addresses });
  const describe = () => {
    const { documentUrl, redirectUri } = addresses();
    if (documentUrl === null) return null;
    return clientDocument({ documentUrl, redirectUri, homeUrl: publicUrl() });
  };
  const pages: McpOauthRoutesOptions = { pages: flows, publicUrl, clientDocument: describe };
  return { flows, pages };
}
