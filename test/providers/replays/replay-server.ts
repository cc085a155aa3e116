/** HTTP server that responds with given bytes, chunk by chunk, which a vendor's real SDK then reads. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "../../../src/domain/common/json.js";

/** Destroys the socket when everything before it has been sent. */
export const CUT = Symbol("cut");
/** Strings are sent as UTF-8; each chunk is one HTTP chunk, so that its reader receives it separately. */
export type Chunk = string | Uint8Array | typeof CUT;

export type ReplayRequest = {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: JsonObject;
};
export type ReplayServer = {
  /** Without a path: `http://127.0.0.1:4000`. */
  url: string;
  /** Oldest first. */
  requests: readonly ReplayRequest[];
  close(): Promise<void>;
};

/** Every request is answered with the same bytes, as server-sent events unless `headers` say otherwise. */
export function serveStream(
  chunks: readonly Chunk[],
  headers: Record<string, string> = {},
  status = 200,
): Promise<ReplayServer> {
  return serveStreams([chunks], headers, status);
}

/** Requests get these answers in order; the last one repeats. */
export async function serveStreams(
  answers: readonly (readonly Chunk[])[],
  headers: Record<string, string> = {},
  status = 200,
): Promise<ReplayServer> {
  const requests: ReplayRequest[] = [];
  const server = createServer((request, response) => {
    const fragments: Buffer[] = [];
    request.on("data", (fragment: Buffer) => fragments.push(fragment));
    request.on("end", () => {
      const text = Buffer.concat(fragments).toString("utf8");
      requests.push({
        method: request.method ?? "",
        path: request.url ?? "",
        headers: Object.fromEntries(
          Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
        ),
        body: text === "" ? {} : (JSON.parse(text) as JsonObject),
      });
      const chunks = answers[Math.min(requests.length, answers.length) - 1] ?? [];
      response.writeHead(status, { "content-type": "text/event-stream", ...headers });
      void sendChunks(response, chunks);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}`, requests, close };
}

async function sendChunks(response: ServerResponse, chunks: readonly Chunk[]): Promise<void> {
  for (const chunk of chunks) {
    if (chunk === CUT) {
      response.destroy();
      return;
    }
    // An empty chunk would end the transfer.
    if (chunk.length === 0) continue;
    await new Promise<void>((resolve) => response.write(chunk, () => resolve()));
  }
  response.end();
}

/** The bytes of a text, cut at every given offset in bytes: also in the middle of a character. */
export function cutBytes(text: string, ...offsets: number[]): Uint8Array[] {
  const bytes = Buffer.from(text);
  const ends = [...offsets, bytes.length];
  return ends.map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
}
