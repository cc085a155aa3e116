/** Opens the connection to one MCP server of a workspace: a program over stdio, or a remote server over HTTP. */
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import { openConnection, type Connection } from "../../mcp/connection.js";
import { withHeaders } from "../../mcp/credentials.js";
import { isSessionLost } from "../../mcp/failure.js";
import { httpTransportOptions, type TransportOptions } from "../../mcp/transport-options.js";
import type { Environment } from "../process/environment.js";
import type { ServerConfig } from "./config-text.js";
import { StderrLog } from "./stderr-log.js";
import { StdioTransport } from "./stdio-transport.js";

/** Usually enough for a first `npx` to download its program. */
export const HANDSHAKE_TIMEOUT_MS = 30_000;

export type ServerOptions = {
  name: string;
  config: ServerConfig;
  environment: Environment;
  /** Working directory of the server's process. */
  directory: string;
  clock: Clock;
  log: Log;
};

/** Rejects when the server cannot be started, the handshake takes more than 30 s, or `signal` is aborted. */
export async function connectServer(options: ServerOptions, signal: AbortSignal): Promise<Connection> {
  signal.throwIfAborted();
  const { name, clock, log } = options;
  return openConnection(
    openTransport(options),
    { clientName: "parley-agent", name, clock, log },
    { timeoutMs: HANDSHAKE_TIMEOUT_MS, signal },
  );
}

/** Whether the call certainly never reached the server: its session is lost, or the connection was refused. */
export function isUndelivered(error: unknown): boolean {
  if (isSessionLost(error)) return true;
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause && cause.code === "ECONNREFUSED";
}

function openTransport({
  name,
  config,
  environment,
  directory,
  clock,
  log,
}: ServerOptions): TransportOptions {
  if (config.transport !== "stdio") {
    const { transport, headers, url } = config;
    return httpTransportOptions({
      url: new URL(url),
      kind: transport === "sse" ? "sse" : "streamable_http",
      fetch: (address, init) => fetch(address, withHeaders(init, headers)),
    });
  }
  const stderr = new StderrLog({ server: name, log, clock });
  const transport = new StdioTransport({
    command: config.command,
    args: config.args,
    environment: { ...environment, ...config.env },
    directory,
    clock,
    onStderr: (chunk) => stderr.take(chunk),
  });
  return {
    transport,
    isRunning: () => transport.isRunning,
    end: () => transport.end,
    protocolVersion: () => undefined,
    lastOutput: () => stderr.lastWords,
    terminateSession: () => Promise.resolve(),
    classifyError: () => "nothing",
  };
}
