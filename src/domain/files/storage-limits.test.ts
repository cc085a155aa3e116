import { expect, test } from "vitest";
import { effectiveStorageLimit, fitsStorage, isStorageFull, formatBytes } from "./storage-limits.js";

test.each([
  ["the deployment's", 5n, undefined, { source: "deployment", limitBytes: 5n }],
  ["none of the deployment's", null, undefined, { source: "none", limitBytes: null }],
  ["the user's own", 5n, 7n, { source: "user", limitBytes: 7n }],
  ["nothing at all", 5n, 0n, { source: "user", limitBytes: 0n }],
  ["none, as an admin said", 5n, null, { source: "user", limitBytes: null }],
] as const)("whose limit counts: %s", (_name, defaultBytes, own, limit) => {
  expect(effectiveStorageLimit(defaultBytes, own)).toEqual(limit);
});

test.each([
  [9n, 10n, 1, true, false],
  [9n, 10n, 2, false, false],
  [10n, 10n, 0, true, true],
  [12n, 10n, 0, false, true],
  [0n, 0n, 1, false, true],
  [2n ** 62n, null, 1, true, false],
] as const)("%s of %s bytes with %s more: fits %s, full %s", (usedBytes, limitBytes, more, fits, full) => {
  const status = { source: "user", usedBytes, limitBytes } as const;
  expect([fitsStorage(status, more), isStorageFull(status)]).toEqual([fits, full]);
});

test.each([
  [0n, "0 bytes"],
  [1n, "1 byte"],
  [1023n, "1023 bytes"],
  [1536n, "1.5 KiB"],
  [5n * 1024n ** 3n, "5 GiB"],
  [2n ** 62n, "4194304 TiB"],
])("%s bytes are formatted as %s", (bytes, words) => {
  expect(formatBytes(bytes)).toBe(words);
});
