/**
 * `GET /files/<id>`: a file's bytes, to whoever has a link that was signed a while ago, or a token of somebody who may
 * see it. Files come from models' tools and strangers' servers: none of them runs in a browser as a page of ours.
 */
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { GraphQLError } from "graphql";
import { plainMediaType } from "../../domain/files/file-types.js";
import { decodeId } from "../../domain/common/ids.js";
import { scopesOf, type Viewer } from "../../domain/users/viewer.js";
import { type ByteRange, readRange } from "./byte-range.js";
import type { ErrorMask } from "../graphql/errors.js";
import type { FileLinks } from "./file-links.js";
import type { RateGate, TokenGate } from "../common/rate-gate.js";
import { linkExpired, noSuchFile, refuse } from "./file-refusals.js";
import { tooManyFailures, unauthenticated, unavailable } from "../graphql/refusals.js";
import type { Strangers } from "../subscriptions/anonymous-connections.js";
import { readBearer } from "../auth/viewer.js";

/** Read at once from the database, so that a large file takes little memory. */
const CHUNK_BYTES = 256 * 1024;
/** A file never changes. Not longer than this, so that who may not see it any more does not keep it for ever. */
const CACHE_SECONDS = 3_600;

/** Shown in a browser; everything else is offered to be saved. Nothing of it can hold a script. */
const SHOWN_TYPES: ReadonlySet<string> = new Set([
  ...["image/png", "image/jpeg", "image/gif", "image/webp", "text/plain"],
  ...["audio/mpeg", "audio/wav", "audio/ogg", "audio/flac"],
]);
/** Told by its name, but saved: viewers of it do not work in the sandbox that it would be shown in. */
const SAVED_TYPES: ReadonlySet<string> = new Set(["application/pdf"]);

const OUT_OF_REACH = "This server cannot reach the bytes of this file. Its operators find more in its log.";

/** What a token must be good for, as for a query. */
const FILES_SCOPE = "read";

/** A file without its bytes. */
export type DownloadableFile = { id: string; name: string; mediaType: string; sizeBytes: number };

export type FilesSource = {
  links: FileLinks;
  /**
   * Null when there is none, or when it is not the viewer's to see; a viewer who is null comes by a good link.
   * `out of reach`: this server cannot read where its bytes are.
   */
  find(
    fileId: string,
    viewer: Viewer | null,
    requestId: string,
  ): Promise<DownloadableFile | "out of reach" | null>;
  /** The bytes from `first` (0 = the beginning), `length` at most. */
  read(fileId: string, first: number, length: number): Promise<Uint8Array>;
};

export type FilesRouteOptions = {
  files: FilesSource;
  checkToken: TokenGate;
  rateGate: RateGate;
  strangers: Pick<Strangers, "forget">;
  mask: ErrorMask;
};

export function addFilesRoute(app: FastifyInstance, options: FilesRouteOptions): void {
  app.route<{ Params: { id: string }; Querystring: Record<string, unknown> }>({
    url: "/files/:id",
    method: ["GET", "HEAD"],
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const fileId = decodeId("file", request.params.id);
      const asker = await askerOf(request, fileId, options);
      if ("retryAfterMs" in asker) return refuse(reply, options.mask, tooManyFailures(asker.retryAfterMs));
      if (asker.viewer === "expired") return refuse(reply, options.mask, linkExpired());
      if (asker.viewer === "unscoped") return refuse(reply, options.mask, unscoped());
      if (asker.viewer === "unknown") {
        reply.header("www-authenticate", "Bearer");
        return refuse(reply, options.mask, unauthenticated());
      }
      options.strangers.forget(request.raw.socket);
      const file = fileId === null ? null : await options.files.find(fileId, asker.viewer, request.id);
      if (file === "out of reach") return refuse(reply, options.mask, unavailable(OUT_OF_REACH));
      if (!file) return refuse(reply, options.mask, noSuchFile());
      return sendFile(request, reply, { file, source: options.files });
    },
  });
}

/** `null` has come by a good link. */
type Asker = { viewer: Viewer | null | "expired" | "unknown" | "unscoped" } | { retryAfterMs: number };

/** A token counts before a link: links live in histories and logs, tokens are meant. */
async function askerOf(
  request: FastifyRequest<{ Querystring: Record<string, unknown> }>,
  fileId: string | null,
  { files, checkToken, rateGate }: FilesRouteOptions,
): Promise<Asker> {
  const token = readBearer(request.headers.authorization);
  const address = rateGate.addressOf(request.raw);
  const found = token === null ? { viewer: null } : await checkToken(token, address);
  if ("viewer" in found && found.viewer) {
    const isInScope = scopesOf(found.viewer).includes(FILES_SCOPE);
    return isInScope ? { viewer: found.viewer } : { viewer: "unscoped" };
  }
  const byLink = await askerByLink(request, fileId, { files, rateGate });
  return "retryAfterMs" in found && byLink.viewer !== null ? found : byLink;
}

type ByLink = { viewer: null | "expired" | "unknown" };

async function askerByLink(
  request: FastifyRequest<{ Querystring: Record<string, unknown> }>,
  fileId: string | null,
  { files, rateGate }: Pick<FilesRouteOptions, "files" | "rateGate">,
): Promise<ByLink> {
  const { expires, signature } = request.query;
  if (fileId === null || typeof expires !== "string" || typeof signature !== "string")
    return { viewer: "unknown" };
  const check = files.links.check(fileId, expires, signature);
  if (check === "good") return { viewer: null };
  if (check === "expired") return { viewer: "expired" };
  await rateGate.countFailure(rateGate.addressOf(request.raw));
  return { viewer: "unknown" };
}

type Sending = { file: DownloadableFile; source: FilesSource };

function sendFile(request: FastifyRequest, reply: FastifyReply, { file, source }: Sending): FastifyReply {
  const etag = `"${file.id}"`;
  reply.headers({ ...contentHeaders(file), etag, "accept-ranges": "bytes" });
  if (isKnown(request.headers["if-none-match"], etag)) return reply.code(304).send();
  const { "if-range": ifRange, range: wanted } = request.headers;
  const header = ifRange === undefined || ifRange === etag ? wanted : undefined;
  const range = readRange(header, file.sizeBytes);
  if (range === "unsatisfiable")
    return reply.code(416).header("content-range", `bytes */${file.sizeBytes}`).send();
  const whole = { first: 0, last: file.sizeBytes - 1 };
  const { first, last } = range === "whole" ? whole : range;
  reply.header("content-length", last - first + 1);
  if (range !== "whole") reply.code(206).header("content-range", `bytes ${first}-${last}/${file.sizeBytes}`);
  if (request.method === "HEAD") return reply.send();
  return reply.send(Readable.from(chunksOf(source, file.id, { first, last }), { objectMode: false }));
}

/** Rejects when the file has gone meanwhile: a connection that is cut says so, a short answer would not. */
async function* chunksOf(source: FilesSource, fileId: string, { first, last }: ByteRange) {
  for (let at = first; at <= last;) {
    const chunk = await source.read(fileId, at, Math.min(CHUNK_BYTES, last - at + 1));
    if (chunk.length === 0) throw new Error(`File ${fileId} ends before its byte ${at}.`);
    yield chunk;
    at += chunk.length;
  }
}

function contentHeaders({ name, mediaType }: DownloadableFile): Record<string, string> {
  const type = plainMediaType(mediaType);
  const isShown = SHOWN_TYPES.has(type);
  const told = isShown || SAVED_TYPES.has(type) ? type : "application/octet-stream";
  return {
    "content-type": told === "text/plain" ? "text/plain; charset=utf-8" : told,
    "content-disposition": `${isShown ? "inline" : "attachment"}; ${fileNameFields(name)}`,
    "content-security-policy": "default-src 'none'; sandbox",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": `private, max-age=${CACHE_SECONDS}, immutable`,
  };
}

/** By RFC 6266: a plain name for old programs, the true one for the others. */
function fileNameFields(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const escaped = encodeURIComponent(name.replace(/\p{Surrogate}/gu, "\uFFFD")).replace(/['()*]/g, (sign) => {
    return `%${sign.charCodeAt(0).toString(16).toUpperCase()}`;
  });
  return `filename="${plain}"; filename*=UTF-8''${escaped}`;
}

function isKnown(header: string | undefined, etag: string): boolean {
  const tags = (header ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes("*") || tags.includes(etag);
}

function unscoped(): GraphQLError {
  return new GraphQLError("The token has not got the scope READ, which this needs.", {
    extensions: { code: "FORBIDDEN", http: { status: 403 } },
  });
}
