// The environment variables of how much is stored and where files' bytes are kept, part of the table in config.ts.
import { address, optional, secretWord, wholeNumber, withDefault, word } from "./variable.js";

const MOST_BYTES = 999_999_999_999_999;
/** 5 GiB: years of text, or five hundred of the largest files. */
const DEFAULT_USER_STORAGE_BYTES = 5 * 1024 ** 3;
/** Room for PostgreSQL's log of changes (16 MiB each) and for a checkpoint to end. */
const DEFAULT_MIN_FREE_BYTES = 256 * 1024 ** 2;

export const fileVariables = {
  userStorageBytes: withDefault(
    {
      name: "PARLEY_USER_STORAGE_BYTES",
      meaning:
        "Bytes that one user may store in messages, queued messages and files, unless an admin gives them a limit of their own. 0 = no limit.",
    },
    String(DEFAULT_USER_STORAGE_BYTES),
    wholeNumber(0, MOST_BYTES, " of bytes"),
  ),
  minFreeBytes: withDefault(
    {
      name: "PARLEY_MIN_FREE_BYTES",
      meaning:
        "With less free space on the disk of PARLEY_DATA_DIR nothing new is stored; for the embedded database. 0 = it is not watched.",
    },
    String(DEFAULT_MIN_FREE_BYTES),
    wholeNumber(0, MOST_BYTES, " of bytes"),
  ),
  s3Bucket: optional(
    {
      name: "PARLEY_S3_BUCKET",
      meaning: "Bucket of an S3-compatible store for the bytes of files; the same on all servers.",
    },
    "none; they are kept in the database",
    word("a bucket's name"),
  ),
  s3Endpoint: optional(
    { name: "PARLEY_S3_ENDPOINT", meaning: "Address of the store; the bucket is in its path." },
    "Amazon's own",
    address(["https:", "http:"]),
  ),
  s3Region: withDefault(
    { name: "PARLEY_S3_REGION", meaning: "The bucket's region." },
    "us-east-1",
    word("a region's name"),
  ),
  s3AccessKeyId: optional(
    { name: "PARLEY_S3_ACCESS_KEY_ID", meaning: "Who asks the store." },
    "as Amazon's programs find it, for example by the machine's role",
    word("a key's id"),
  ),
  s3SecretAccessKey: optional(
    { name: "PARLEY_S3_SECRET_ACCESS_KEY", meaning: "What signs requests to the store." },
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

/** What does not work by what is set of it. */
export function findFileHalves(values: FileValues): string[] {
  const { s3Bucket, s3Endpoint, s3AccessKeyId, s3SecretAccessKey } = values;
  const isLost = s3Bucket === undefined && (s3Endpoint ?? s3AccessKeyId ?? s3SecretAccessKey) !== undefined;
  return [
    ...(isLost ? ["PARLEY_S3_ENDPOINT and the keys need PARLEY_S3_BUCKET beside them."] : []),
    ...((s3AccessKeyId === undefined) === (s3SecretAccessKey === undefined)
      ? []
      : ["PARLEY_S3_ACCESS_KEY_ID and PARLEY_S3_SECRET_ACCESS_KEY must be set both or neither."]),
  ];
}
