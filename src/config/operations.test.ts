import { expect, test } from "vitest";
import { operationsVariables } from "./operations.js";

const read = (text: string) =>
  operationsVariables.metricsAddress.parse(text, { cwd: "/", isDirectory: () => false, dataDir: () => "/" });

test.each([
  ["127.0.0.1:9464", { host: "127.0.0.1", port: 9464 }],
  ["0.0.0.0:0", { host: "0.0.0.0", port: 0 }],
  ["localhost:65535", { host: "localhost", port: 65_535 }],
  ["[::1]:9464", { host: "::1", port: 9464 }],
])("%s is where metrics may listen", (text, address) => {
  expect(read(text)).toEqual(address);
});

test.each([
  "9464",
  ":9464",
  "localhost",
  "localhost:",
  "localhost:65536",
  "::1:9464",
  "a b:1",
  "http://a:1",
  "[x]:1",
])("%s is refused", (text) => {
  expect(read(text)).toBeUndefined();
});
