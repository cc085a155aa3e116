// File downloads: authentication by token or link, and what is sent of a file.
import { expect, test } from "vitest";
import { encodeId } from "../../src/domain/common/ids.js";
import { FileLinks } from "../../src/http/files/file-links.js";
import type { DownloadableFile } from "../../src/http/files/files.js";
import { ManualClock, openServers, TOKEN } from "./support.js";

const open = openServers();
const ID = "0b8f3c52-0d6f-4c55-9d8e-0b4cf7a8a111";
const STRANGERS = "0b8f3c52-0d6f-4c55-9d8e-0b4cf7a8a222";
const KEY = new Uint8Array(32).fill(1);
const BYTES = Buffer.from(Array.from({ length: 600_000 }, (_, index) => index % 251));
const bearer = { authorization: `Bearer ${TOKEN}` };

async function openEndpoint(
  file: Partial<DownloadableFile> = {},
  { bytes = BYTES, keys = [KEY] }: { bytes?: Buffer; keys?: Uint8Array[] } = {},
) {
  const clock = new ManualClock();
  const reads: number[] = [];
  const of = (id: string): DownloadableFile => ({
    id,
    name: "a.png",
    mediaType: "image/png",
    sizeBytes: bytes.length,
    ...file,
  });
  let url = "";
  const links = new FileLinks({ keys, clock, publicUrl: () => url });
  const server = await open({
    files: {
      links,
      find: async (id, asker) => (id === ID || asker === null ? of(id) : null),
      read: async (_id, first, length) => (reads.push(length), bytes.subarray(first, first + length)),
    },
  });
  url = server.url;
  const get = async (headers: Record<string, string> = {}, address = links.linkTo(ID), method = "GET") => {
    const response = await fetch(address, { headers, method });
    const body = Buffer.from(await response.arrayBuffer());
    return { status: response.status, headers: response.headers, body };
  };
  return { clock, links, get, reads, plain: `${url}/files/${encodeId("file", ID)}`, url };
}

test("a link returns the whole file without a token, read in chunks", async () => {
  const { get, reads } = await openEndpoint();
  const { status, headers, body } = await get();
  expect(status).toBe(200);
  expect(body.equals(BYTES)).toBe(true);
  expect(reads).toEqual([262_144, 262_144, 75_712]);
  expect(Object.fromEntries(headers)).toMatchObject({
    "content-type": "image/png",
    "content-length": "600000",
    "content-disposition": `inline; filename="a.png"; filename*=UTF-8''a.png`,
    "content-security-policy": "default-src 'none'; sandbox",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "accept-ranges": "bytes",
    etag: `"${ID}"`,
  });
});

test("a link stays the same for 15 minutes and is valid for 15 more", async () => {
  const { links, get, clock } = await openEndpoint();
  const link = links.linkTo(ID);
  const left = 15 * 60_000 - (clock.now() % (15 * 60_000));
  clock.advance(left - 1);
  expect(links.linkTo(ID)).toBe(link);
  clock.advance(1);
  expect(links.linkTo(ID)).not.toBe(link);
  clock.advance(15 * 60_000 - 1);
  expect((await get({}, link)).status).toBe(200);
  clock.advance(1);
  const late = await get({}, link);
  expect([late.status, late.body.toString()]).toEqual([403, expect.stringContaining("has expired")]);
});

test("a modified link, or one signed with another key, is refused", async () => {
  const { links, get, clock, url, plain } = await openEndpoint();
  const link = new URL(links.linkTo(ID));
  const changed = (name: string, value: string) => {
    const other = new URL(link);
    other.searchParams.set(name, value);
    return other.href;
  };
  const signature = link.searchParams.get("signature") ?? "";
  const otherKeys = new FileLinks({ keys: [new Uint8Array(32)], clock, publicUrl: () => url }).linkTo(ID);
  const refused = [
    changed("expires", String(Number(link.searchParams.get("expires")) + 1)),
    changed("signature", `${signature.slice(0, -2)}AA`),
    changed("signature", ""),
    `${link.href}&expires=1`,
    link.href.replace(ID, STRANGERS),
    otherKeys,
    plain,
    `${url}/files/nonsense?${link.searchParams}`,
    `${url}/files/${encodeURIComponent("../../etc/passwd")}`,
  ];
  const answers = await Promise.all(refused.map((address) => get({}, address)));
  expect(answers.map(({ status }) => status)).toEqual(refused.map(() => 401));
});

test("links signed with the previous key are still valid", async () => {
  const older = new Uint8Array(32).fill(2);
  const { get, clock, url } = await openEndpoint({}, { keys: [KEY, older] });
  const link = new FileLinks({ keys: [older], clock, publicUrl: () => url }).linkTo(ID);
  expect((await get({}, link)).status).toBe(200);
});

test("a token gives access to the user's own files; others look like missing ones", async () => {
  const { get, plain, links } = await openEndpoint();
  expect((await get(bearer, plain)).status).toBe(200);
  expect((await get(bearer, plain.replace(ID, STRANGERS))).status).toBe(404);
  expect((await get(bearer, `${plain}x`)).status).toBe(404);
  // The token takes precedence over the link.
  expect((await get(bearer, links.linkTo(STRANGERS))).status).toBe(404);
  expect((await get({ authorization: "Bearer pt_bad" }, plain)).status).toBe(401);
});

test.each([
  ["bytes=10-19", 206, "bytes 10-19/600000", [10, 20]],
  ["bytes=599990-", 206, "bytes 599990-599999/600000", [599_990, 600_000]],
  ["bytes=-5", 206, "bytes 599995-599999/600000", [599_995, 600_000]],
  ["bytes=262143-262144", 206, "bytes 262143-262144/600000", [262_143, 262_145]],
  ["bytes=0-1,3-4", 200, null, [0, 600_000]],
  ["bytes=600000-", 416, "bytes */600000", [0, 0]],
] as const)("the range %s is answered with %d", async (range, status, contentRange, [from, to]) => {
  const { get } = await openEndpoint();
  const answer = await get({ range });
  expect([answer.status, answer.headers.get("content-range")]).toEqual([status, contentRange]);
  expect(answer.body.equals(BYTES.subarray(from, to))).toBe(true);
});

test("a range request for another version of the file returns the whole file", async () => {
  const { get } = await openEndpoint();
  expect((await get({ range: "bytes=0-1", "if-range": '"other"' })).status).toBe(200);
  expect((await get({ range: "bytes=0-1", "if-range": `"${ID}"` })).status).toBe(206);
});

test("a cached file is not sent again, and HEAD sends no bytes", async () => {
  const { get, reads, links } = await openEndpoint();
  const known = await get({ "if-none-match": `"x", W/"${ID}"` });
  expect([known.status, known.body.length]).toEqual([304, 0]);
  const head = await get({}, links.linkTo(ID), "HEAD");
  expect([head.status, head.headers.get("content-length")]).toEqual([200, "600000"]);
  expect(reads).toEqual([]);
});

test.each([
  ["text/html", "application/octet-stream", "attachment"],
  ["image/svg+xml", "application/octet-stream", "attachment"],
  ["application/xhtml+xml; charset=utf-8", "application/octet-stream", "attachment"],
  ["text/javascript", "application/octet-stream", "attachment"],
  ["nonsense\r\nx-evil: 1", "application/octet-stream", "attachment"],
  ["application/pdf", "application/pdf", "attachment"],
  ["text/plain", "text/plain; charset=utf-8", "inline"],
  ["audio/x-wav", "audio/wav", "inline"],
])("a file of type %j is sent as %s, %s", async (mediaType, type, disposition) => {
  const { get } = await openEndpoint({ mediaType });
  const { headers } = await get();
  expect(headers.get("content-type")).toBe(type);
  expect(headers.get("content-disposition")).toMatch(new RegExp(`^${disposition};`));
  expect(headers.get("x-evil")).toBeNull();
});

test("unusual file names are sent intact and break no header", async () => {
  const { get } = await openEndpoint({ name: `gr\u00f6\u00dfe "1"; x='\\\ud800\r\nx-evil: 1.png` });
  const { status, headers } = await get();
  expect(status).toBe(200);
  expect(headers.get("content-disposition")).toBe(
    `inline; filename="gr__e _1_; x='____x-evil: 1.png"; filename*=UTF-8''gr%C3%B6%C3%9Fe%20%221%22%3B%20x%3D%27%5C%EF%BF%BD%0D%0Ax-evil%3A%201.png`,
  );
});

test("an empty file is sent", async () => {
  const { get, reads } = await openEndpoint({}, { bytes: Buffer.alloc(0) });
  const { status, body, headers } = await get();
  expect([status, body.length, headers.get("content-length"), reads]).toEqual([200, 0, "0", []]);
});

test("a file that is deleted meanwhile aborts the response, so that no client takes a part for the whole", async () => {
  const { get } = await openEndpoint({ sizeBytes: BYTES.length + 1 });
  await expect(get()).rejects.toThrow();
});
