/** How registered tool servers are reached, for turns as for those who look at what there is. */
import type { ServerConnectionDependencies } from "../services/mcp/connect-server.js";
import type { McpAuthorization } from "../services/mcp/ports.js";
import type { Clock } from "../lib/clock.js";
import type { Log } from "../lib/log.js";
import type { OutboundFetch } from "../lib/outbound/outbound-fetch.js";

/** To the head of an answer, which with some servers comes when the call is over: as long as calls may take. */
const TOOL_SERVER_TIMEOUT_MS = 240_000;

export function mcpConnections({
  outbound,
  ...dependencies
}: {
  authorization: McpAuthorization;
  outbound: OutboundFetch;
  clock: Clock;
  log: Log;
}): ServerConnectionDependencies {
  return {
    ...dependencies,
    // The protocol's library is loaded with the first server.
    connect: async (client, options) => (await import("../mcp/client.js")).connectMcp(client, options),
    fetchFor: ({ allowsPrivateAddresses: isPrivateAllowed }) =>
      outbound.for({ isPrivateAllowed, timeoutMs: TOOL_SERVER_TIMEOUT_MS, maxBodyBytes: null }),
  };
}
