// Uploads: announced over GraphQL, uploaded to a single-purpose URL, and checked for their content.
import { request } from "node:http";
import { Readable } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FileSweep } from "../../../src/services/files/file-sweep.js";
import { decodeId } from "../../../src/domain/common/ids.js";
import { createLog } from "../../../src/lib/log.js";
import { PDF, PNG } from "../../providers/requests/histories.js";
import { refusalsOf } from "../../support/models/model-setup.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";
import { announce, findFile, put, upload } from "../../support/clients/uploads.js";
import { ManualClock } from "../../http/support.js";

const MIB = 1024 * 1024;

let environment: TestEnvironment;
let server: TestParley;
let ann: TestParley["api"];
beforeAll(async () => {
  environment = await createTestEnvironment();
  server = await environment.start();
  ann = await server.addUser("ann");
});
afterAll(() => environment.remove());

const HTML = Buffer.from("<!doctype html><script>alert(1)</script>");
const SVG = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');

test("a file is announced, uploaded, and then visible to its owner only", async () => {
  const made = await announce(ann, {
    name: "../../chart.png",
    mediaType: "Image/PNG",
    sizeBytes: PNG.length,
  });
  expect(made).toMatchObject({
    file: { name: "chart.png", mediaType: "image/png", sizeBytes: PNG.length, isAvailable: false },
    userErrors: [],
  });
  const id = made.file?.id ?? "";
  expect(await findFile(ann, id)).toBeNull();
  const before = await put(made.uploadUrl, PNG, { "content-type": "text/html" });
  expect(before).toMatchObject({ status: 200, body: { id, mediaType: "image/png" } });
  const file = await findFile(ann, id);
  expect(file).toMatchObject({ isAvailable: true, mediaType: "image/png" });
  const download = await fetch(file?.url ?? "");
  expect(Buffer.from(await download.arrayBuffer()).equals(PNG)).toBe(true);
  expect(await findFile(await server.addUser("eve"), id)).toBeNull();
});

test("uploading the same bytes again changes nothing; other bytes are refused", async () => {
  const { file, uploadUrl } = await announce(ann, { sizeBytes: 3 });
  const puts = await Promise.all([1, 2].map(() => put(uploadUrl, Buffer.from("abc"))));
  expect([...puts, await put(uploadUrl, Buffer.from("abc"))].map(({ status }) => status)).toEqual([
    ...[200, 200, 200],
  ]);
  expect(await put(uploadUrl, Buffer.from("abd"))).toMatchObject({ status: 409, code: "CONFLICT" });
  const { url = "" } = (await findFile(ann, file?.id ?? "")) ?? {};
  expect(await (await fetch(url)).text()).toBe("abc");
});

test.each([
  [
    { name: "../../..", mediaType: "image", sizeBytes: 0 },
    ["INVALID name", "INVALID mediaType", "INVALID sizeBytes"],
  ],
  [{ name: "\u202e\u0000 ", sizeBytes: 10 * MIB + 1 }, ["INVALID name", "INVALID sizeBytes"]],
])("an invalid file is refused with its field: %j", async (input, refusals) => {
  const { file, uploadUrl, expiresAt, userErrors } = await announce(ann, input);
  expect([file, uploadUrl, expiresAt, refusalsOf(userErrors)]).toEqual([null, null, null, refusals]);
});

test.each([
  ["a page as a picture", "image/png", HTML, null],
  ["a page as a document", "application/pdf", HTML, null],
  ["letters that begin like a GIF", "image/gif", Buffer.from("GIF89a=1;alert(1)"), null],
  ["a document as text", "text/plain", PDF, null],
  ["a picture as text", "text/plain", PNG, null],
  ["a program as a picture", "image/jpeg", Buffer.from("7f454c4602010100", "hex"), null],
  ["text in UTF-16", "text/plain", Buffer.from("\ufeffhi", "utf16le"), null],
  ["a PNG as a JPEG", "image/jpeg", PNG, null],
  ["a page as a page", "text/html", HTML, "text/html"],
  ["a drawing as a drawing", "image/svg+xml", SVG, "image/svg+xml"],
  ["a script that says nothing of itself", "application/octet-stream", HTML, "text/plain"],
  ["a picture with a page behind it", "image/png", Buffer.concat([PNG, HTML]), "image/png"],
  ["a page before a document", "application/octet-stream", Buffer.concat([HTML, PDF]), "text/plain"],
  [
    "an archive by another name",
    "application/java-archive",
    Buffer.from("504b0304140000000000", "hex"),
    "application/zip",
  ],
  ["a text that begins like a bitmap", "text/plain", Buffer.from("BM is short for bitmap"), "text/plain"],
])("%s, announced as %s, is detected", async (_what, mediaType, bytes, detected) => {
  const { file, uploadUrl } = await announce(ann, { name: "x", mediaType, sizeBytes: bytes.length });
  const { status, code } = await put(uploadUrl, bytes);
  const found = await findFile(ann, file?.id ?? "");
  if (detected === null) return expect([status, code, found]).toEqual([415, "BAD_USER_INPUT", null]);
  expect([status, found?.mediaType]).toEqual([200, detected]);
  const { headers } = await fetch(found?.url ?? "");
  const isShown = ["image/png", "text/plain"].includes(detected);
  expect([headers.get("x-content-type-options"), headers.get("content-security-policy")]).toEqual([
    ...["nosniff", "default-src 'none'; sandbox"],
  ]);
  expect(headers.get("content-disposition")).toMatch(isShown ? /^inline/ : /^attachment/);
  await discard(found?.id);
});

test("more bytes than announced are not read, fewer are refused", async () => {
  const { file, uploadUrl } = await announce(ann, { sizeBytes: 3 });
  const url = uploadUrl ?? "";
  expect(await put(url, Buffer.from("ab"))).toMatchObject({ status: 400, code: "BAD_USER_INPUT" });
  const unread = await answerTo(url, { "content-length": String(100 * MIB) });
  expect(unread).toEqual([413, "close"]);
  const endless = Readable.from(
    (function* () {
      for (;;) yield Buffer.alloc(64 * 1024);
    })(),
  );
  expect(await answerTo(url, { "transfer-encoding": "chunked" }, endless)).toEqual([413, "close"]);
  expect(await findFile(ann, file?.id ?? "")).toBeNull();
  expect((await put(url, Buffer.from("abc"))).status).toBe(200);
});

test("a server reads eight uploads at once and refuses the ninth with a retry", async () => {
  const { uploadUrl } = await announce(ann, { sizeBytes: 3 });
  const url = uploadUrl ?? "";
  const slow = Array.from({ length: 8 }, () => {
    const sent = request(url, { method: "PUT", headers: { "content-length": "3" } });
    sent.on("error", () => undefined);
    sent.write("a");
    return sent;
  });
  // Refused with 413 until all eight uploads have their slots.
  await expect.poll(() => answerTo(url, { "content-length": String(100 * MIB) })).toEqual([503, "close"]);
  for (const each of slow) each.destroy();
  await expect.poll(async () => (await put(url, Buffer.from("abc"))).status).toBe(200);
});

test("an upload URL works for one file, for PUT only, and not for deactivated users", async () => {
  const bob = await server.addUser("bob");
  const [one, two] = [await announce(bob, {}), await announce(bob, {})];
  const [url, other] = [new URL(one.uploadUrl ?? ""), new URL(two.uploadUrl ?? "")];
  const bytes = Buffer.from("abc");
  const swapped = `${other.origin}${other.pathname}${url.search}`;
  const later = new URL(url);
  later.searchParams.set("expires", String(Number(url.searchParams.get("expires")) + 1));
  const bare = `${url.origin}${url.pathname}`;
  const bad = [swapped, later.href, bare, `${url.origin}/files/..%2f..%2fetc%2fpasswd${url.search}`];
  expect((await Promise.all(bad.map((it) => put(it, bytes)))).map(({ status }) => status)).toEqual([
    ...[401, 401, 401, 401],
  ]);
  expect((await fetch(url)).status).toBe(401);
  await upload(bob, { bytes });
  expect((await put(url.href, bytes)).status).toBe(200);
  const { url: download = "" } = (await findFile(bob, one.file?.id ?? "")) ?? {};
  expect((await put(download, bytes)).status).toBe(401);
  const { viewer } = await bob.get<{ viewer: { user: { id: string } } }>("{ viewer { user { id } } }");
  await server.api.change("deactivateUser", { userId: viewer.user.id }, "user { id }");
  expect((await put(two.uploadUrl, bytes)).status).toBe(404);
});

test("a user may have fifty files outside of chats, and unfinished or unsent ones are deleted", async () => {
  const kim = await server.addUser("kim");
  const sent = await upload(kim, { bytes: Buffer.from("abc") });
  const all = await Promise.all(Array.from({ length: 49 }, () => announce(kim, {})));
  expect(refusalsOf(all.flatMap(({ userErrors }) => userErrors))).toEqual([]);
  expect(refusalsOf((await announce(kim, {})).userErrors)).toEqual(["LIMIT_EXCEEDED"]);
  const clock = new ManualClock();
  clock.advance(Date.now() - clock.now());
  const { database } = server.parley;
  const sweep = new FileSweep({ database, clock, log: createLog("silent"), objects: null });
  const left = async () => {
    const ids = [sent, ...all.map(({ file }) => file?.id ?? "")].map((id) => decodeId("file", id));
    const rows = await database.dataSource.query<object[]>("SELECT 1 FROM files WHERE id = ANY($1)", [ids]);
    return rows.length;
  };
  await sweep.sweep();
  expect(await left()).toBe(50);
  clock.advance(71 * 60_000);
  await sweep.sweep();
  expect(await left()).toBe(1);
  clock.advance(24 * 3_600_000);
  await sweep.sweep();
  expect(await left()).toBe(0);
});

/** The status, and whether the connection stays, for a request whose body may never end. */
function answerTo(url: string, headers: Record<string, string>, body?: Readable): Promise<unknown[]> {
  return new Promise((resolve) => {
    const sent = request(url, { method: "PUT", headers }, (response) => {
      resolve([response.statusCode, response.headers.connection]);
      response.resume();
      body?.destroy();
      sent.destroy();
    });
    // The server closes the connection while the request is still being sent.
    sent.on("error", () => undefined);
    if (body) body.pipe(sent);
    else sent.flushHeaders();
  });
}

/** Deletes a user's files so that they stay below the limit. */
async function discard(id: string | undefined): Promise<void> {
  await server.parley.database.dataSource.query("DELETE FROM files WHERE id = $1", [
    decodeId("file", id ?? ""),
  ]);
}
