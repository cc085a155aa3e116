/**
 * `GET /metrics` on a listener of its own, so that what a server tells of itself is never public by accident: it knows
 * no tokens, and whoever reaches the address may read.
 */
import { createServer, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { Log } from "../lib/log.js";
import type { Metrics } from "./metrics.js";

/** A scrape is one short request; who takes longer is none. */
const REQUEST_TIMEOUT_MS = 5_000;

export type MetricsDoor = {
  /** Where it listens: `http://127.0.0.1:9464`. */
  url: string;
  close(): Promise<void>;
};

/** Rejects when the address cannot be taken. Port 0 takes any free one. */
export async function openMetricsDoor(
  metrics: Pick<Metrics, "read">,
  { host, port }: { host: string; port: number },
  log: Log,
): Promise<MetricsDoor> {
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    const path = request.url?.split("?", 1)[0];
    if (path !== "/metrics") return void response.writeHead(404).end("There is only /metrics here.\n");
    if (request.method !== "GET" && request.method !== "HEAD")
      return void response.writeHead(405, { allow: "GET, HEAD" }).end();
    answer(metrics, response).catch((error: unknown) => {
      log.error({ err: error }, "The metrics cannot be read");
      response.writeHead(500).end();
    });
  });
  server.listen(port, host);
  await once(server, "listening");
  // Such as no descriptor for one more connection. Without a listener it would end the process.
  server.on("error", (error) => log.warn({ err: error }, "A connection for the metrics could not be taken"));
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
