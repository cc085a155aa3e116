// Files' bytes in a store that speaks S3, by the real client over real HTTP: put, read in ranges, taken away with their
// files by whatever way those go, and never left behind by a server that dies.
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FileSweep } from "../../src/services/files/file-sweep.js";
import { FileStorage } from "../../src/services/files/file-storage.js";
import { decodeId } from "../../src/domain/common/ids.js";
import { createLog } from "../../src/lib/log.js";
import { connectS3 } from "../../src/adapters/s3.js";
import { insertTestFile } from "../support/files.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../support/parley.js";
import { startS3Server, type S3Server } from "../support/network/s3-server.js";
import { announce, findFile, put, upload } from "../support/clients/uploads.js";
import { ManualClock } from "../http/support.js";

const MIB = 1024 * 1024;

let environment: TestEnvironment;
let store: S3Server;
let server: TestParley;
let ann: TestParley["api"];
let annId: string;
beforeAll(async () => {
  [environment, store] = await Promise.all([createTestEnvironment(), startS3Server()]);
  server = await environment.start(store.settings);
  ann = await server.addUser("ann");
  type Read = { viewer: { user: { id: string } } };
  annId = decodeId("user", (await ann.get<Read>("{ viewer { user { id } } }")).viewer.user.id) ?? "";
});
afterAll(async () => {
  await environment.remove();
  await store.close();
});

const text = { text: { text: "[[demo: deltas=1]]" } };
const query = <Row extends object>(sql: string, values: unknown[] = []) =>
  server.parley.database.dataSource.query<Row[]>(sql, values);
const objectsOf = (fileId: string) =>
  [...store.objects.keys()].filter((name) => name.includes(decodeId("file", fileId) ?? "never"));

const NO_LIMIT = { demand: () => Promise.resolve() };

/** As a replica has them, with a clock of its own. */
function files(more: Partial<ConstructorParameters<typeof FileSweep>[0]> = {}) {
  const clock = new ManualClock();
  clock.advance(Date.now() - clock.now());
  const objects = connectS3({
    bucket: "parley",
    region: "eu-test-1",
    endpoint: store.settings["PARLEY_S3_ENDPOINT"] ?? "",
    keys: { accessKeyId: "AKIATEST", secretAccessKey: "secret-of-the-store" },
  });
  const parts = {
    database: server.parley.database,
    clock,
    log: createLog("silent"),
    objects,
    storage: NO_LIMIT,
    ...more,
  };
  return { clock, objects, kept: new FileStorage(parts), sweep: new FileSweep(parts) };
}

test("an upload goes into the store alone, and is read from there, ranges too", async () => {
  const bytes = randomBytes(MIB);
  const id = await upload(ann, { bytes });
  const rows = await query<object>("SELECT content, object_key FROM files WHERE id = $1", [
    decodeId("file", id),
  ]);
  const [name = ""] = objectsOf(id);
  expect(rows).toEqual([{ content: null, object_key: name.replace("parley/", "") }]);
  expect(store.objects.get(name)?.equals(bytes)).toBe(true);
  const { url = "" } = (await findFile(ann, id)) ?? {};
  expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(bytes)).toBe(true);
  store.asked.splice(0);
  const part = await fetch(url, { headers: { range: "bytes=1000-1999" } });
  expect([part.status, Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(1000, 2000))]).toEqual([
    206,
    true,
  ]);
  expect(store.asked).toEqual(["GET bytes=1000-1999"]);
});

test("models read files from the store, and old files where they are", async () => {
  const id = await upload(ann, {
    name: "a.txt",
    mediaType: "text/plain",
    bytes: Buffer.from("from the store"),
  });
  type Made = { chat: { id: string } };
  const made = await ann.change<Made>(
    "createChat",
    { parts: [text, { file: { fileId: id } }], workspaceId: null },
    "chat { id }",
  );
  const chatId = decodeId("chat", made.chat.id) ?? "";
  const old = await insertTestFile(
    server.parley.database,
    { ownerId: annId, chatId },
    { name: "b.txt", mediaType: "text/plain", bytes: Buffer.from("from the database") },
  );
  const given = { name: "c.bin", mediaType: "application/zip", bytes: Buffer.from("from a tool") };
  const { kept } = files();
  const [tools] = await kept.saveToolFiles({ chatId, ownerId: annId }, [given]);
  const ids = [decodeId("file", id) ?? "", old, tools?.fileId ?? ""];
  const found = await kept.contents(chatId, ids);
  expect(ids.map((it) => Buffer.from(found.get(it) ?? []).toString())).toEqual([
    "from the store",
    "from the database",
    "from a tool",
  ]);
  expect(objectsOf(`file_${ids[2]}`)).toHaveLength(1);
  // A replica without object storage reads the database, and reports what it cannot read.
  const { kept: blind } = files({ objects: null });
  expect([...(await blind.contents(chatId, ids)).keys()]).toEqual([old]);
});

test("a replica without object storage reports files that are in one as unavailable", async () => {
  const id = await upload(ann, { bytes: Buffer.from("abc") });
  const other = await environment.start();
  const answer = await fetch(`${other.api.url}/files/${id}`, {
    headers: { authorization: `Bearer ${ann.token}` },
  });
  expect([answer.status, await answer.text()]).toEqual([
    503,
    expect.stringContaining("cannot read this file"),
  ]);
  await other.close();
  const told: string[] = [];
  const log = createLog("error", "test", { write: (line) => void told.push(line) });
  const { kept } = files({ objects: null, log });
  expect(kept.canRead({ id: decodeId("file", id) ?? "", objectKey: "files/x" })).toBe(false);
  expect(told).toEqual([expect.stringContaining("set PARLEY_S3_BUCKET")]);
});

test("objects are deleted with their files, whether those are swept, evicted, or deleted with a chat or a user", async () => {
  const sue = await server.addUser("sue");
  const sent = await upload(sue, { bytes: Buffer.from("sent") });
  const loose = await upload(sue, { bytes: Buffer.from("loose") });
  await sue.change(
    "createChat",
    { parts: [text, { file: { fileId: sent } }], workspaceId: null },
    "chat { id }",
  );
  const { sweep, clock } = files();
  await sweep.sweep();
  expect([objectsOf(sent).length, objectsOf(loose).length]).toEqual([1, 1]);
  await query("DELETE FROM files WHERE id = $1", [decodeId("file", loose)]);
  type Read = { viewer: { user: { id: string } } };
  const { viewer } = await sue.get<Read>("{ viewer { user { id } } }");
  await query("DELETE FROM chats WHERE owner_id = $1", [decodeId("user", viewer.user.id)]);
  clock.advance(1_000);
  // The server's own sweep may be first with them.
  await expect.poll(async () => (await sweep.sweep(), [objectsOf(sent), objectsOf(loose)])).toEqual([[], []]);
  expect(await query("SELECT 1 FROM unwanted_objects WHERE due_at <= now()")).toEqual([]);
});

test("the object of a server that died before it saved the file's row is deleted an hour later", async () => {
  const { file, uploadUrl } = await announce(ann, { sizeBytes: 3 });
  const id = file?.id ?? "";
  const { kept, sweep, clock, objects } = files({
    // The row goes between the object and its claim, as in a power cut.
    objects: {
      ...files().objects,
      async put(key, bytes, mediaType) {
        await objects.put(key, bytes, mediaType);
        await query("DELETE FROM files WHERE id = $1", [decodeId("file", id)]);
      },
    },
  });
  expect(await kept.finish(decodeId("file", id) ?? "", Buffer.from("abc"))).toEqual({ outcome: "gone" });
  await sweep.sweep();
  expect(objectsOf(id)).toHaveLength(1);
  clock.advance(3_600_001);
  await sweep.sweep();
  expect(objectsOf(id)).toEqual([]);
  expect((await put(uploadUrl, Buffer.from("abc"))).status).toBe(404);
});

test("while the store fails no upload is accepted and no object is lost", async () => {
  const id = await upload(ann, { bytes: Buffer.from("abc") });
  const { file, uploadUrl } = await announce(ann, { sizeBytes: 3 });
  const { sweep, clock, kept } = files();
  await query("DELETE FROM files WHERE id = $1", [decodeId("file", id)]);
  // A refusal, which clients do not try again.
  store.failWith(403);
  expect((await put(uploadUrl, Buffer.from("abc"))).status).toBe(503);
  expect(await findFile(ann, file?.id ?? "")).toBeNull();
  clock.advance(1_000);
  await sweep.sweep();
  expect(objectsOf(id)).toHaveLength(1);
  store.failWith(null);
  expect((await put(uploadUrl, Buffer.from("abc"))).status).toBe(200);
  store.failWith(403);
  await expect(kept.slice(decodeId("file", file?.id ?? "") ?? "", 0, 3)).rejects.toThrow();
  store.failWith(null);
  await expect.poll(async () => (await sweep.sweep(), objectsOf(id))).toEqual([]);
});
