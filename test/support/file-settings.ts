// Variables about file storage, for the test that knows all variables: unset, and with everything set.
export const FILE_DEFAULTS = {
  userStorageBytes: 5_368_709_120,
  minFreeBytes: 268_435_456,
  s3Bucket: undefined,
  s3Endpoint: undefined,
  s3Region: "us-east-1",
  s3AccessKeyId: undefined,
  s3SecretAccessKey: undefined,
};

export const FILE_VARIABLES = {
  PARLEY_USER_STORAGE_BYTES: "1000",
  PARLEY_MIN_FREE_BYTES: "0",
  PARLEY_S3_BUCKET: "parley-files",
  PARLEY_S3_ENDPOINT: "https://s3.example:9000",
  PARLEY_S3_REGION: "eu-central-1",
  PARLEY_S3_ACCESS_KEY_ID: "AKIA",
  PARLEY_S3_SECRET_ACCESS_KEY: "key-of-the-store",
};

export const FILE_VALUES = {
  userStorageBytes: 1_000,
  minFreeBytes: 0,
  s3Bucket: "parley-files",
  s3Endpoint: "https://s3.example:9000",
  s3Region: "eu-central-1",
  s3AccessKeyId: "AKIA",
  s3SecretAccessKey: "key-of-the-store",
};
