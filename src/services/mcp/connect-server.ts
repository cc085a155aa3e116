/** Opens a connection to an MCP server as a user: with their authorization, through the outbound guard. */
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import type { Fetch, McpClient } from "../../mcp/types.js";
import type { McpServerRecord } from "../../store/mcp/mcp-servers.js";
import type { ConnectMcp, McpAuthorization } from "./ports.js";

export type ServerConnectionDependencies = {
  authorization: Pick<McpAuthorization, "headersFor" | "renewedHeaders">;
  connect: ConnectMcp;
  /** The guarded fetch for the addresses that the server may use. */
  fetchFor(server: McpServerRecord): Fetch;
  clock: Clock;
  log: Log;
};

/** The user must authorize the server first; the message is shown to users. */
export class NotAuthorized extends Error {
  override readonly name = "NotAuthorized";
}

/**
 * Rejects with an McpFailure, NotAuthorized, or the signal's reason. The caller closes the client. `timeoutMs` bounds
 * the handshake; the signal everything after the authorization was read.
 */
export async function openServer(
  { authorization, connect, fetchFor, clock, log }: ServerConnectionDependencies,
  { server, userId }: { server: McpServerRecord; userId: string },
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<McpClient> {
  const authorized = await authorization.headersFor(server, userId);
  signal.throwIfAborted();
  if (!authorized.ok) throw new NotAuthorized(authorized.message);
  const renewHeaders = async (rejected: Readonly<Record<string, string>>) => {
    const renewed = await authorization.renewedHeaders(server, userId, rejected);
    return renewed.ok ? renewed.headers : null;
  };
  const { slug: name, transport } = server;
  const url = new URL(server.url);
  const fetch = fetchFor(server);
  return connect(
    { name, url, transport, headers: authorized.headers, renewHeaders, fetch, clock, log },
    { timeoutMs, signal },
  );
}
