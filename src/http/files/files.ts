/**
 * `GET /files/<id>`: serves a file's bytes, with a signed link or with a token of a user who may see it. Files come from
 * models' tools and third-party servers: none of them may run in a browser as a page of this origin.
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
import type { AnonymousConnections } from "../subscriptions/anonymous-connections.js";
import { readBearer } from "../auth/viewer.js";

/** Bytes per read from the database, so that a large file takes little memory. */
const CHUNK_BYTES = 256 * 1024;
/** Files are immutable; bounded, so that a browser drops files that the user may no longer see. */
const CACHE_SECONDS = 3_600;

/** Types shown inline in a browser; none can contain scripts. Everything else is a download. */
const INLINE_TYPES: ReadonlySet<string> = new Set([
  ...["image/png", "image/jpeg", "image/gif", "image/webp", "text/plain"],
  ...["audio/mpeg", "audio/wav", "audio/ogg", "audio/flac"],
]);
/** Types sent with their name, but as a download: their viewers do not work in the sandbox. */
const DOWNLOAD_TYPES: ReadonlySet<string> = new Set(["application/pdf"]);

const UNREACHABLE = "This server cannot read this file at the moment. The server's log has details.";

/** Scope that a token needs, as for a query. */
const FILES_SCOPE = "read";

/** A file without its bytes. */
export type DownloadableFile = { id: string; name: string; mediaType: string; sizeBytes: number };

export type FilesSource = {
  links: FileLinks;
  /**
   * Null when it does not exist, or the viewer may not see it; a null viewer has a valid link. `out of reach`: this server
   * cannot read the file's storage.
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
  anonymous: Pick<AnonymousConnections, "remove">;
  mask: ErrorMask;
};

export function addFilesRoute(app: FastifyInstance, options: FilesRouteOptions): void {
  app.route<{ Params: { id: string }; Querystring: Record<string, unknown> }>({
    url: "/files/:id",
    method: ["GET", "HEAD"],
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const fileId = decodeId("file", request.params.id);
      const requester = await authenticate(request, fileId, options);
      if ("retryAfterMs" in requester)
        return refuse(reply, options.mask, tooManyFailures(requester.retryAfterMs));
      if (requester.viewer === "expired") return refuse(reply, options.mask, linkExpired());
      if (requester.viewer === "unscoped") return refuse(reply, options.mask, unscoped());
      if (requester.viewer === "unknown") {
        reply.header("www-authenticate", "Bearer");
        return refuse(reply, options.mask, unauthenticated());
      }
      options.anonymous.remove(request.raw.socket);
      const file = fileId === null ? null : await options.files.find(fileId, requester.viewer, request.id);
      if (file === "out of reach") return refuse(reply, options.mask, unavailable(UNREACHABLE));
      if (!file) return refuse(reply, options.mask, noSuchFile());
      return sendFile(request, reply, { file, source: options.files });
    },
  });
}

/** A null viewer has a valid link. */
type Requester = { viewer: Viewer | null | "expired" | "unknown" | "unscoped" } | { retryAfterMs: number };

/** A token takes precedence over a link. */
async function authenticate(
  request: FastifyRequest<{ Querystring: Record<string, unknown> }>,
  fileId: string | null,
  { files, checkToken, rateGate }: FilesRouteOptions,
): Promise<Requester> {
  const token = readBearer(request.headers.authorization);
  const address = rateGate.addressOf(request.raw);
  const found = token === null ? { viewer: null } : await checkToken(token, address);
  if ("viewer" in found && found.viewer) {
    const isInScope = scopesOf(found.viewer).includes(FILES_SCOPE);
    return isInScope ? { viewer: found.viewer } : { viewer: "unscoped" };
  }
  const byLink = await authenticateLink(request, fileId, { files, rateGate });
  return "retryAfterMs" in found && byLink.viewer !== null ? found : byLink;
}

type ByLink = { viewer: null | "expired" | "unknown" };

async function authenticateLink(
  request: FastifyRequest<{ Querystring: Record<string, unknown> }>,
  fileId: string | null,
  { files, rateGate }: Pick<FilesRouteOptions, "files" | "rateGate">,
): Promise<ByLink> {
  const { expires, signature } = request.query;
  if (fileId === null || typeof expires !== "string" || typeof signature !== "string")
    return { viewer: "unknown" };
  const check = files.links.check(fileId, expires, signature);
  if (check === "valid") return { viewer: null };
  if (check === "expired") return { viewer: "expired" };
  await rateGate.countFailure(rateGate.addressOf(request.raw));
  return { viewer: "unknown" };
}

type Sending = { file: DownloadableFile; source: FilesSource };

function sendFile(request: FastifyRequest, reply: FastifyReply, { file, source }: Sending): FastifyReply {
  const etag = `"${file.id}"`;
  reply.headers({ ...contentHeaders(file), etag, "accept-ranges": "bytes" });
  if (isKnown(request.headers["if-none-match"], etag)) return reply.code(304).send();
  const { "if-range": ifRange, range: requested } = request.headers;
  const header = ifRange === undefined || ifRange === etag ? requested : undefined;
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

/** Rejects when the file was deleted meanwhile: an aborted connection shows it, a short response would not. */
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
  const isInline = INLINE_TYPES.has(type);
  const contentType = isInline || DOWNLOAD_TYPES.has(type) ? type : "application/octet-stream";
  return {
    "content-type": contentType === "text/plain" ? "text/plain; charset=utf-8" : contentType,
    "content-disposition": `${isInline ? "inline" : "attachment"}; ${fileNameFields(name)}`,
    "content-security-policy": "default-src 'none'; sandbox",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": `private, max-age=${CACHE_SECONDS}, immutable`,
  };
}

/** RFC 6266: an ASCII fallback, and the actual name. */
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
  return new GraphQLError("The token does not have the scope READ, which this request requires.", {
    extensions: { code: "FORBIDDEN", http: { status: 403 } },
  });
}
