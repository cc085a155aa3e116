/**
 * `PUT /files/<id>`: uploads the bytes of a file that `createFileUpload` announced, to the link that it returned. At most
 * the announced number of bytes is read, and their type is checked before the file becomes visible.
 */
import type { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { GraphQLError } from "graphql";
import { decodeId, encodeId } from "../../domain/common/ids.js";
import { MAX_FILE_BYTES } from "../../domain/files/file-limits.js";
import { STORAGE_FULL_TEXT } from "../../domain/files/storage-limits.js";
import type { ErrorMask } from "../graphql/errors.js";
import type { FileLinks } from "./file-links.js";
import { linkExpired, noSuchFile, refuse, uploadRefused } from "./file-refusals.js";
import type { RateGate } from "../common/rate-gate.js";
import { unauthenticated, unavailable } from "../graphql/refusals.js";
import type { AnonymousConnections } from "../subscriptions/anonymous-connections.js";

/** Each is buffered in memory until it is stored: 80 MiB at most. */
const MAX_UPLOADS_AT_ONCE = 8;
const RETRY_AFTER_SECONDS = 1;

type UploadedFile = { id: string; name: string; mediaType: string; sizeBytes: number };

/** As `UploadOutcome` in src/services/files/file-storage.ts. */
type Finished =
  | { outcome: "stored"; file: UploadedFile }
  | { outcome: "refused"; message: string }
  | { outcome: "taken" }
  | { outcome: "gone" }
  | { outcome: "unavailable" };

export type UploadsSource = {
  links: FileLinks;
  /** The announced size in bytes; null when no upload is pending. */
  findSize(fileId: string): Promise<number | null>;
  /** Whether the server's disk has space for so many bytes. */
  hasSpaceFor(bytes: number): Promise<boolean>;
  finish(fileId: string, bytes: Uint8Array): Promise<Finished>;
};

export type UploadsRouteOptions = {
  uploads: UploadsSource;
  rateGate: RateGate;
  anonymous: Pick<AnonymousConnections, "remove">;
  mask: ErrorMask;
};

type UploadRequest = FastifyRequest<{ Params: { id: string }; Querystring: Record<string, unknown> }>;

export function addUploadsRoute(app: FastifyInstance, options: UploadsRouteOptions): void {
  let running = 0;
  // An encapsulated plugin, because it disables body parsing for all content types.
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _body, done) => done(null));
    scope.put("/files/:id", async (request: UploadRequest, reply) => {
      if (running >= MAX_UPLOADS_AT_ONCE) {
        reply.header("retry-after", RETRY_AFTER_SECONDS);
        return refuseUnread(
          reply,
          options.mask,
          unavailable("Too many uploads are in progress; try again later."),
        );
      }
      running += 1;
      try {
        return await receiveUpload(request, reply, options);
      } finally {
        running -= 1;
      }
    });
  });
}

async function receiveUpload(
  request: UploadRequest,
  reply: FastifyReply,
  options: UploadsRouteOptions,
): Promise<FastifyReply> {
  const { uploads, mask } = options;
  const fileId = decodeId("file", request.params.id);
  const refusal = await refuseLink(request, fileId, options);
  if (refusal || fileId === null) return refuseUnread(reply, mask, refusal ?? unauthenticated());
  options.anonymous.remove(request.raw.socket);
  const announced = await uploads.findSize(fileId);
  if (announced === null) return refuseUnread(reply, mask, noSuchFile());
  if (!(await uploads.hasSpaceFor(announced)))
    return refuseUnread(reply, mask, uploadRefused(507, "UNAVAILABLE", STORAGE_FULL_TEXT));
  const declared = request.headers["content-length"];
  if (declared !== undefined && Number(declared) !== announced)
    return refuseUnread(reply, mask, wrongSize(announced, Number(declared)));
  const bytes = await readUpTo(request.raw, announced).catch((): "aborted" => "aborted");
  if (bytes === "aborted")
    return refuseUnread(reply, mask, uploadRefused(400, "BAD_USER_INPUT", "The upload was aborted."));
  if (bytes === null) return refuseUnread(reply, mask, wrongSize(announced, null));
  if (bytes.length !== announced) return refuse(reply, mask, wrongSize(announced, bytes.length));
  return respond(reply, mask, await uploads.finish(fileId, bytes));
}

function respond(reply: FastifyReply, mask: ErrorMask, finished: Finished): FastifyReply {
  switch (finished.outcome) {
    case "stored": {
      const { id, name, mediaType, sizeBytes } = finished.file;
      reply.header("cache-control", "no-store");
      return reply.code(200).send({ id: encodeId("file", id), name, mediaType, sizeBytes });
    }
    case "refused":
      return refuse(reply, mask, uploadRefused(415, "BAD_USER_INPUT", finished.message));
    case "taken":
      return refuse(
        reply,
        mask,
        uploadRefused(
          409,
          "CONFLICT",
          "Other bytes were uploaded for this file before. Create a new upload.",
        ),
      );
    case "gone":
      return refuse(reply, mask, noSuchFile());
    case "unavailable":
      return refuse(reply, mask, unavailable("The file cannot be stored at the moment; try again later."));
  }
}

/** Undefined when the link is valid. */
async function refuseLink(
  { query, raw }: UploadRequest,
  fileId: string | null,
  { uploads, rateGate }: UploadsRouteOptions,
): Promise<GraphQLError | undefined> {
  const { expires, signature } = query;
  if (fileId === null || typeof expires !== "string" || typeof signature !== "string")
    return unauthenticated();
  const check = uploads.links.checkUpload(fileId, expires, signature);
  if (check === "valid") return undefined;
  if (check === "expired") return linkExpired();
  await rateGate.countFailure(rateGate.addressOf(raw));
  return unauthenticated();
}

/** Null when the body is longer. */
async function readUpTo(body: Readable, limitBytes: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body.iterator({ destroyOnReturn: false })) {
    const bytes = chunk as Buffer;
    length += bytes.length;
    if (length > limitBytes) return null;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks, length);
}

/** Closes the connection, whose body was not read. */
function refuseUnread(reply: FastifyReply, mask: ErrorMask, error: GraphQLError): FastifyReply {
  reply.header("connection", "close");
  return refuse(reply, mask, error);
}

function wrongSize(announced: number, found: number | null): GraphQLError {
  const message = `The file was announced with ${announced} bytes, but has ${found ?? "more"}.`;
  return uploadRefused(found === null || found > MAX_FILE_BYTES ? 413 : 400, "BAD_USER_INPUT", message);
}
