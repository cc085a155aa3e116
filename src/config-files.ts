// The environment variables of where files' bytes are kept, part of the table in config.ts.
import { address, optional, secretWord, withDefault, word } from "./config-variable.js";

export const fileVariables = {
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
