import { expect, test } from "vitest";
import { crc32, eventStreamMessage } from "./aws-event-stream.js";

test("the checksum is the standard CRC-32", () => {
  expect(crc32(Buffer.from("123456789"))).toBe(0xcbf43926);
  expect(crc32(new Uint8Array())).toBe(0);
});

test("a message has its lengths, its headers, its payload and both checksums", () => {
  const message = eventStreamMessage({ ":event-type": "chunk" }, Buffer.from("{}"));
  expect(message.readUInt32BE(0)).toBe(message.length);
  expect(message.readUInt32BE(4)).toBe(20);
  expect(message.readUInt32BE(8)).toBe(crc32(message.subarray(0, 8)));
  expect(message.subarray(12, -4).toString("latin1")).toBe("\u000b:event-type\u0007\u0000\u0005chunk{}");
  expect(message.readUInt32BE(message.length - 4)).toBe(crc32(message.subarray(0, -4)));
});
