/** Transports to remote MCP servers: streamable HTTP, and SSE, its predecessor. */
import { SSEClientTransport, SseError } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { McpTransport } from "../domain/mcp/types.js";
import { boundedFetch } from "./bounded-fetch.js";
import type { Fetch } from "./types.js";

/** A transport, and what is particular about its kind. */
export type TransportOptions = {
  transport: Transport;
  isRunning(): boolean;
  /** Why it ended, when known. */
  end(): string | undefined;
  /** As negotiated; undefined where the transport does not need it. */
  protocolVersion(): string | undefined;
  /** The server's last error output, which may explain a failed start. */
  lastOutput(): string;
  /** Ends the server's session before the transport is closed. */
  terminateSession(): Promise<void>;
  /** Whether an error means that the server is gone, may mean it, or does not. */
  classifyError(error: unknown): "gone" | "perhaps gone" | "nothing";
};

/** `fetch` adds the credentials. */
export function httpTransportOptions({
  url,
  kind,
  fetch,
}: {
  url: URL;
  kind: McpTransport;
  fetch: Fetch;
}): TransportOptions {
  const options = { fetch: boundedFetch(fetch) };
  const common = { isRunning: () => true, end: () => undefined, lastOutput: () => "" };
  if (kind === "sse") {
    const transport = new SSEClientTransport(url, options);
    return {
      ...common,
      transport,
      protocolVersion: () => undefined,
      terminateSession: () => Promise.resolve(),
      // Its stream is its session: a new stream would be a new session.
      classifyError: (error) => (error instanceof SseError ? "gone" : "perhaps gone"),
    };
  }
  const transport = new StreamableHTTPClientTransport(url, options);
  return {
    ...common,
    transport,
    protocolVersion: () => transport.protocolVersion,
    terminateSession: () => transport.terminateSession(),
    classifyError: () => "perhaps gone",
  };
}
