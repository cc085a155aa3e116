// Files of chats: their URLs in the API and their bytes, from a real database and any replica.
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { decodeId, encodeId } from "../../../src/domain/common/ids.js";
import { insertTestFile } from "../../support/files.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";

const MIB = 1024 * 1024;
const settings = { PARLEY_SECRETS_KEYS: `k1:${Buffer.alloc(32, 7).toString("base64")}` };

let environment: TestEnvironment;
let server: TestParley;
beforeAll(async () => {
  environment = await createTestEnvironment();
  server = await environment.start(settings);
});
afterAll(() => environment.remove());

async function keep(bytes: Uint8Array, mediaType = "application/zip"): Promise<string> {
  const { viewer } = await server.api.get<{ viewer: { user: { id: string } } }>("{ viewer { user { id } } }");
  const ownerId = decodeId("user", viewer.user.id) ?? "";
  const file = { name: "all.zip", mediaType, bytes };
  return encodeId("file", await insertTestFile(server.parley.database, { ownerId }, file));
}

const FILE = "query ($id: ID!) { node(id: $id) { ... on File { name mediaType sizeBytes url } } }";
type Shown = { node: { name: string; url: string } | null };

test("a file's URL works without a token, on another replica and after a restart", async () => {
  const bytes = randomBytes(2 * MIB + 12_345);
  const id = await keep(bytes);
  const { node } = await server.api.get<Shown>(FILE, { id });
  expect(node).toMatchObject({ name: "all.zip", mediaType: "application/zip", sizeBytes: bytes.length });
  const other = await environment.start(settings);
  for (const base of [server.api.url, other.api.url]) {
    const address = (node?.url ?? "").replace(server.api.url, base);
    const answer = Buffer.from(await (await fetch(address)).arrayBuffer());
    expect(answer.equals(bytes)).toBe(true);
    const end = await fetch(address, { headers: { range: "bytes=-7" } });
    expect(Buffer.from(await end.arrayBuffer()).equals(bytes.subarray(-7))).toBe(true);
  }
});

test("ten concurrent downloads of a 10 MiB file are all complete", async () => {
  const id = await keep(randomBytes(10 * MIB));
  const { node } = await server.api.get<Shown>(FILE, { id });
  const readers = await Promise.all(Array.from({ length: 10 }, () => fetch(node?.url ?? "")));
  const sizes = await Promise.all(readers.map(async (reader) => (await reader.arrayBuffer()).byteLength));
  expect(sizes).toEqual(readers.map(() => 10 * MIB));
});

test("other users can access neither a file's URL nor its bytes; admins can access both", async () => {
  const eve = await server.addUser("eve");
  const id = await keep(Buffer.from("secret"));
  expect(await eve.get<Shown>(FILE, { id })).toEqual({ node: null });
  const fetchAs = (token: string | null) =>
    fetch(`${server.api.url}/files/${id}`, {
      headers: token === null ? {} : { authorization: `Bearer ${token}` },
    });
  expect((await fetchAs(eve.token)).status).toBe(404);
  expect((await fetchAs(null)).status).toBe(401);
  const ann = await server.addUser("ann", "admin");
  expect(await (await fetchAs(ann.token)).text()).toBe("secret");
});
