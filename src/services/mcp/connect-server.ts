/** A connection to a tool server in a person's name: shown their authorisation, reached through the guard. */
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import type { Fetch, McpClient } from "../../mcp/types.js";
import type { McpServerRecord } from "../../store/mcp/mcp-servers.js";
import type { ConnectMcp, McpAuthorization } from "./ports.js";

export type ServerConnectionDependencies = {
  authorization: Pick<McpAuthorization, "headersFor" | "renewedHeaders">;
  connect: ConnectMcp;
  /** Guarded, by what the server is allowed to reach. */
  fetchFor(server: McpServerRecord): Fetch;
  clock: Clock;
  log: Log;
};

/** The person has to do something before the server can be used for them; worded for people. */
export class NotAuthorized extends Error {
  override readonly name = "NotAuthorized";
}

/**
 * Rejects with an McpFailure, NotAuthorized, or the signal's reason. Whoever gets the client closes it. `timeoutMs`
 * bounds the handshake; the signal all of it, once the authorisation has been looked up.
 */
export async function openServer(
  { authorization, connect, fetchFor, clock, log }: ServerConnectionDependencies,
  { server, userId }: { server: McpServerRecord; userId: string },
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<McpClient> {
  const shown = await authorization.headersFor(server, userId);
  signal.throwIfAborted();
  if (!shown.ok) throw new NotAuthorized(shown.message);
  const renewHeaders = async (rejected: Readonly<Record<string, string>>) => {
    const renewed = await authorization.renewedHeaders(server, userId, rejected);
    return renewed.ok ? renewed.headers : null;
  };
  const { slug: name, transport } = server;
  const url = new URL(server.url);
  const fetch = fetchFor(server);
  return connect(
    { name, url, transport, headers: shown.headers, renewHeaders, fetch, clock, log },
    { timeoutMs, signal },
  );
}
