import { expect, test } from "vitest";
import { isPublished, RedisFrames } from "./redis-proxy-frames.js";

const PUBLISHED = [
  ">3\r\n$7\r\nmessage\r\n$5\r\ntopic\r\n$4\r\na\r\nb\r\n",
  ">3\r\n$8\r\nsmessage\r\n$1\r\nt\r\n$0\r\n\r\n",
];
const OLD_PUBLISHED = "*3\r\n$7\r\nmessage\r\n$5\r\ntopic\r\n$3\r\n€\r\n";
const REPLIES = [
  "+OK\r\n",
  "-ERR no\r\n",
  ":12\r\n",
  "_\r\n",
  "#t\r\n",
  ",1.5\r\n",
  "$-1\r\n",
  "$3\r\nabc\r\n",
  "=7\r\ntxt:abc\r\n",
  "*-1\r\n",
  "*0\r\n",
  "*2\r\n*2\r\n$1\r\na\r\n*1\r\n:1\r\n$2\r\n\r\n\r\n",
  "%2\r\n+a\r\n:1\r\n+b\r\n*1\r\n+c\r\n",
  "|1\r\n+ttl\r\n:9\r\n$1\r\nx\r\n",
  "~1\r\n+a\r\n",
  ">3\r\n$10\r\nssubscribe\r\n$1\r\nt\r\n:1\r\n",
];
const ALL = [...REPLIES, ...PUBLISHED, OLD_PUBLISHED, ...REPLIES];

test.each([1, 2, 3, 7, 64, 10_000])(
  "values come out whole and unchanged when they arrive in chunks of %i bytes",
  (size) => {
    const bytes = Buffer.from(ALL.join(""));
    const frames = new RedisFrames();
    const found: string[] = [];
    for (let at = 0; at < bytes.length; at += size)
      found.push(...frames.split(bytes.subarray(at, at + size)).map(String));
    expect(found).toEqual(ALL);
  },
);

test("only published messages count as published", () => {
  expect(ALL.filter((frame) => isPublished(Buffer.from(frame)))).toEqual([...PUBLISHED, OLD_PUBLISHED]);
});

test("bytes that are not RESP are rejected", () => {
  expect(() => new RedisFrames().split(Buffer.from("HTTP/1.1 200 OK\r\n"))).toThrow("something unknown");
});
