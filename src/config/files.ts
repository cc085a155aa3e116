// Variables of storage limits and the object store; part of the table in config.ts.
import { address, optional, secretWord, wholeNumber, withDefault, word } from "./variable.js";

const MOST_BYTES = 999_999_999_999_999;
/** 5 GiB: years of text, or five hundred of the largest files. */
const DEFAULT_USER_STORAGE_BYTES = 5 * 1024 ** 3;
/** Enough for PostgreSQL's WAL segments (16 MiB each) and for a checkpoint to finish. */
const DEFAULT_MIN_FREE_BYTES = 256 * 1024 ** 2;

export const fileVariables = {
  userStorageBytes: withDefault(
    {
      name: "PARLEY_USER_STORAGE_BYTES",
      meaning:
        "Bytes that one user may store in messages, queued messages and files, unless an admin sets a limit of their own. 0 = no limit.",
    },
    String(DEFAULT_USER_STORAGE_BYTES),
    wholeNumber(0, MOST_BYTES, " of bytes"),
  ),
  minFreeBytes: withDefault(
    {
      name: "PARLEY_MIN_FREE_BYTES",
      meaning:
        "Bytes of free disk space of PARLEY_DATA_DIR below which nothing new is stored; only with the embedded database. 0 = not monitored.",
    },
    String(DEFAULT_MIN_FREE_BYTES),
    wholeNumber(0, MOST_BYTES, " of bytes"),
  ),
  s3Bucket: optional(
    {
      name: "PARLEY_S3_BUCKET",
      meaning: "Bucket of an S3-compatible object store for files; the same on all servers.",
    },
    "none; files are stored in the database",
    word("a bucket's name"),
  ),
  s3Endpoint: optional(
    {
      name: "PARLEY_S3_ENDPOINT",
      meaning: "Endpoint of the object store, addressed with the bucket in the path.",
    },
    "Amazon S3",
    address(["https:", "http:"]),
  ),
  s3Region: withDefault(
    { name: "PARLEY_S3_REGION", meaning: "The bucket's region." },
    "us-east-1",
    word("a region's name"),
  ),
  s3AccessKeyId: optional(
    { name: "PARLEY_S3_ACCESS_KEY_ID", meaning: "Access key id for the object store." },
    "from the AWS SDK's credential chain, for example the machine's role",
    word("a key's id"),
  ),
  s3SecretAccessKey: optional(
    { name: "PARLEY_S3_SECRET_ACCESS_KEY", meaning: "Secret access key for the object store." },
    "as PARLEY_S3_ACCESS_KEY_ID",
    secretWord(1),
  ),
};

type FileValues = {
  s3Bucket: string | undefined;
  s3Endpoint: string | undefined;
  s3AccessKeyId: string | undefined;
  s3SecretAccessKey: string | undefined;
};

/** Incomplete combinations of variables. */
export function findIncompleteFiles(values: FileValues): string[] {
  const { s3Bucket, s3Endpoint, s3AccessKeyId, s3SecretAccessKey } = values;
  const isMissingBucket =
    s3Bucket === undefined && (s3Endpoint ?? s3AccessKeyId ?? s3SecretAccessKey) !== undefined;
  return [
    ...(isMissingBucket ? ["PARLEY_S3_ENDPOINT and the keys require PARLEY_S3_BUCKET."] : []),
    ...((s3AccessKeyId === undefined) === (s3SecretAccessKey === undefined)
      ? []
      : ["PARLEY_S3_ACCESS_KEY_ID and PARLEY_S3_SECRET_ACCESS_KEY must be set together."]),
  ];
}
