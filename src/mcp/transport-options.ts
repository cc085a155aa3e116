/** The lines to tool servers elsewhere: streamable HTTP, and SSE, which was before it. */
import { SSEClientTransport, SseError } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { McpTransport } from "../domain/mcp/types.js";
import { boundedFetch } from "./bounded-fetch.js";
import type { Fetch } from "./types.js";

/** The line to a server, and what is particular about its kind. */
export type Line = {
  transport: Transport;
  isRunning(): boolean;
  /** How it ended, if anybody knows. */
  end(): string | undefined;
  /** What both sides have agreed on; undefined where the line does not need to know. */
  protocolVersion(): string | undefined;
  /** What explains a failed start. */
  lastWords(): string;
  /** Politeness before the end. */
  goodbye(): Promise<void>;
  /** An error means that the server is gone, may mean it, or does not. */
  errorMeans(error: unknown): "gone" | "perhaps gone" | "nothing";
};

/** `fetch` adds what the server wants to see of us; redirects are followed within the server's origin only. */
export function httpLine({ url, kind, fetch }: { url: URL; kind: McpTransport; fetch: Fetch }): Line {
  const options = { fetch: boundedFetch(fetch) };
  const common = { isRunning: () => true, end: () => undefined, lastWords: () => "" };
  if (kind === "sse") {
    const transport = new SSEClientTransport(url, options);
    return {
      ...common,
      transport,
      protocolVersion: () => undefined,
      goodbye: () => Promise.resolve(),
      // Its stream is its session: another stream is another one.
      errorMeans: (error) => (error instanceof SseError ? "gone" : "perhaps gone"),
    };
  }
  const transport = new StreamableHTTPClientTransport(url, options);
  return {
    ...common,
    transport,
    protocolVersion: () => transport.protocolVersion,
    goodbye: () => transport.terminateSession(),
    errorMeans: () => "perhaps gone",
  };
}
