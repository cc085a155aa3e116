/** Composition of connections to MCP servers, for turns and for listing tools. */
import type { ServerConnectionDependencies } from "../services/mcp/connect-server.js";
import type { McpAuthorization } from "../services/mcp/ports.js";
import type { Clock } from "../lib/clock.js";
import type { Log } from "../lib/log.js";
import type { OutboundFetch } from "../lib/outbound/outbound-fetch.js";

/** Until a response's head, which some servers send at the end of a call: as long as calls may take. */
const MCP_SERVER_TIMEOUT_MS = 240_000;

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
    // The protocol's library is loaded with the first connection.
    connect: async (client, options) => (await import("../mcp/client.js")).connectMcp(client, options),
    fetchFor: ({ allowsPrivateAddresses: isPrivateAllowed }) =>
      outbound.for({ isPrivateAllowed, timeoutMs: MCP_SERVER_TIMEOUT_MS, maxBodyBytes: null }),
  };
}
