/** People's authorisations for tool servers, as one process has them: for turns, for commands, and for their browsers. */
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

/** Descriptions and tokens; both are a few thousand bytes. */
const MAX_ANSWER_BYTES = 1_048_576;
/** Above what the steps allow themselves, which end their requests. */
const ANSWER_LIMIT_MS = 15_000;

type OauthAccountDependencies = {
  database: Database;
  secrets: SecretBox;
  outbound: OutboundFetch;
  clock: Clock;
  log: Log;
};

/** What both sides of people's authorisations stand on. */
function oauthParts({ database, secrets, outbound, clock, log }: OauthAccountDependencies) {
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
  dependencies: OauthAccountDependencies & { identityTokenOf: (userId: string) => Promise<string | null> },
  closers: Closers,
): Authorizations {
  const authorizations = new Authorizations({
    ...oauthParts(dependencies),
    identityTokenOf: dependencies.identityTokenOf,
  });
  closers.add("the renewal of tool servers' tokens", () => authorizations.close());
  return authorizations;
}

/** `publicUrl` may be unknown until the doors are open. */
export function mcpAccounts(dependencies: OauthAccountDependencies, publicUrl: () => string) {
  const addresses = () => mcpOauthAddresses(publicUrl());
  const flows = new OauthFlows({ ...oauthParts(dependencies), addresses });
  const describe = () => {
    const { documentUrl, redirectUri } = addresses();
    if (documentUrl === null) return null;
    return clientDocument({ documentUrl, redirectUri, homeUrl: publicUrl() });
  };
  const door: McpOauthRoutesOptions = { pages: flows, publicUrl, clientDocument: describe };
  return { flows, door };
}
