/** Object store with the S3 API, Amazon's or a compatible one. */
import {
  DeleteObjectCommand,
  GetObjectCommand,
  NoSuchKey,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from "@aws-sdk/client-s3";
import type { ObjectStore } from "../domain/files/object-store.js";

export type S3Settings = {
  bucket: string;
  region: string;
  /** Default: Amazon's. */
  endpoint?: string;
  /** Default: the AWS SDK's credential chain, for example the machine's role. */
  keys?: { accessKeyId: string; secretAccessKey: string };
};

/** A file of 10 MiB takes about a second within a region. */
const REQUEST_TIMEOUT_MS = 30_000;
const CONNECTION_TIMEOUT_MS = 5_000;
/** The first one included; the client backs off between them. */
const ATTEMPTS = 3;

/** Connects with the first request. */
export function connectS3({ bucket: Bucket, region, endpoint, keys }: S3Settings): ObjectStore {
  const client = new S3Client({
    region,
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    ...(keys && { credentials: keys }),
    maxAttempts: ATTEMPTS,
    requestHandler: { requestTimeout: REQUEST_TIMEOUT_MS, connectionTimeout: CONNECTION_TIMEOUT_MS },
    // Stores other than Amazon's do not support the checksums that the client would add.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
  return {
    async put(Key, bytes, ContentType) {
      await client.send(new PutObjectCommand({ Bucket, Key, Body: bytes, ContentType }));
    },
    async read(Key, first, length) {
      if (length === 0) return new Uint8Array();
      const Range = `bytes=${first}-${first + length - 1}`;
      try {
        const { Body } = await client.send(new GetObjectCommand({ Bucket, Key, Range }));
        return Body === undefined ? new Uint8Array() : await Body.transformToByteArray();
      } catch (error) {
        if (error instanceof NoSuchKey || statusOf(error) === RANGE_NOT_SATISFIABLE) return new Uint8Array();
        throw error;
      }
    },
    async remove(Key) {
      await client.send(new DeleteObjectCommand({ Bucket, Key }));
    },
    close: () => client.destroy(),
  };
}

const RANGE_NOT_SATISFIABLE = 416;

function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}
