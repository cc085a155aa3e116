/**
 * Metrics server: `GET /metrics` on its own listener, so that metrics are never public by accident. It does not
 * authenticate: every client that can reach the address may read.
 */
import { createServer, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { Log } from "../lib/log.js";
import type { Metrics } from "./metrics.js";

/** A scrape is one short request. */
const REQUEST_TIMEOUT_MS = 5_000;

export type MetricsServer = {
  /** For example `http://127.0.0.1:9464`. */
  url: string;
  close(): Promise<void>;
};

/** Rejects when the address is not available. Port 0 selects a free port. */
export async function openMetricsServer(
  metrics: Pick<Metrics, "read">,
  { host, port }: { host: string; port: number },
  log: Log,
): Promise<MetricsServer> {
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    const path = request.url?.split("?", 1)[0];
    if (path !== "/metrics") return void response.writeHead(404).end("There is only /metrics here.\n");
    if (request.method !== "GET" && request.method !== "HEAD")
      return void response.writeHead(405, { allow: "GET, HEAD" }).end();
    answer(metrics, response).catch((error: unknown) => {
      log.error({ err: error }, "metrics request failed");
      response.writeHead(500).end();
    });
  });
  server.listen(port, host);
  await once(server, "listening");
  // For example out of file descriptors. Without a listener the error would end the process.
  server.on("error", (error) => log.warn({ err: error }, "metrics server could not accept a connection"));
  const address = server.address();
  const taken = typeof address === "object" && address !== null ? address.port : port;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${taken}`,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(metrics: Pick<Metrics, "read">, response: ServerResponse): Promise<void> {
  const { contentType, text } = await metrics.read();
  response.writeHead(200, { "content-type": contentType, "cache-control": "no-store" }).end(text);
}
