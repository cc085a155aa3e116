// Small S3-compatible store over real HTTP: path-style buckets, ranges, signatures. Failures can be switched on.
import { createHash, createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

const ACCESS_KEY_ID = "AKIATEST";
const SECRET_ACCESS_KEY = "secret-of-the-store";

export type S3Server = {
  /** Settings of a server that uses it. */
  settings: Record<string, string>;
  /** By `bucket/key`. */
  objects: Map<string, Buffer>;
  /** `METHOD range` of each request, with `-` for none. */
  asked: string[];
  /** Status of every response; null: the regular one. */
  failWith(status: number | null): void;
  close(): Promise<void>;
};

export async function startS3Server(): Promise<S3Server> {
  const objects = new Map<string, Buffer>();
  const asked: string[] = [];
  let failure: number | null = null;
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.headers.range ?? "-"}`);
    if (failure !== null) return sendError(response, failure, "Told");
    if (!isSigned(request)) return sendError(response, 403, "SignatureDoesNotMatch");
    return void answer(objects, request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    settings: {
      PARLEY_S3_BUCKET: "parley",
      PARLEY_S3_ENDPOINT: `http://127.0.0.1:${port}`,
      PARLEY_S3_REGION: "eu-test-1",
      PARLEY_S3_ACCESS_KEY_ID: ACCESS_KEY_ID,
      PARLEY_S3_SECRET_ACCESS_KEY: SECRET_ACCESS_KEY,
    },
    objects,
    asked,
    failWith: (status) => void (failure = status),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function answer(objects: Map<string, Buffer>, request: IncomingMessage, response: ServerResponse) {
  const name = decodeURIComponent((request.url ?? "").split("?", 1)[0] ?? "").slice(1);
  if (!name.startsWith("parley/")) return sendError(response, 404, "NoSuchBucket");
  if (request.method === "PUT") {
    objects.set(name, await buffer(request));
    return response.writeHead(200, { etag: '"1"' }).end();
  }
  if (request.method === "DELETE") {
    objects.delete(name);
    return response.writeHead(204).end();
  }
  const bytes = objects.get(name);
  if (bytes === undefined) return sendError(response, 404, "NoSuchKey");
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
  if (from === undefined) return send(request, response, 200, bytes);
  if (Number(from) >= bytes.length) return sendError(response, 416, "InvalidRange");
  const slice = bytes.subarray(Number(from), Number(to) + 1);
  response.setHeader("content-range", `bytes ${from}-${Number(from) + slice.length - 1}/${bytes.length}`);
  return send(request, response, 206, slice);
}

function send(request: IncomingMessage, response: ServerResponse, status: number, bytes: Buffer) {
  response.writeHead(status, { "content-length": bytes.length, etag: '"1"' });
  return response.end(request.method === "HEAD" ? undefined : bytes);
}

function sendError(response: ServerResponse, status: number, code: string) {
  const body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>No.</Message></Error>`;
  return response.writeHead(status, { "content-type": "application/xml" }).end(body);
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=AKIATEST\/(\d{8})\/eu-test-1\/s3\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/;

/** Signature version 4, computed from the request as received. */
function isSigned({ method, url = "", headers }: IncomingMessage): boolean {
  const [, day = "", names = "", signature] = AUTHORIZATION.exec(headers.authorization ?? "") ?? [];
  if (signature === undefined) return false;
  const [path = "", query = ""] = url.split("?");
  const lines = names.split(";").map((name) => `${name}:${String(headers[name] ?? "").trim()}\n`);
  const sorted = query.split("&").filter(Boolean).sort().join("&");
  const whole = [method, path, sorted, lines.join(""), names, headers["x-amz-content-sha256"]].join("\n");
  const scope = `${day}/eu-test-1/s3/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, sha256(whole)].join("\n");
  const key = [day, "eu-test-1", "s3", "aws4_request"].reduce<Buffer | string>(
    (from, word) => createHmac("sha256", from).update(word).digest(),
    `AWS4${SECRET_ACCESS_KEY}`,
  );
  return createHmac("sha256", key).update(text).digest("hex") === signature;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
