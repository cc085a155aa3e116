// The endpoints while the disk of the server or of the database is full.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { DatabaseUnavailable } from "../../src/domain/common/outages.js";
import { createErrorMask } from "../../src/http/graphql/errors.js";
import { FileLinks } from "../../src/http/files/file-links.js";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { ask, askOverSocket, openServers } from "./support.js";

const open = openServers();
const MESSAGE = expect.stringContaining("administrator has to free disk space") as string;

test("mutations are refused over HTTP and sockets, everything can still be read, and both work again when there is space", async () => {
  const space = { isLow: true, hasSpaceFor: () => Promise.resolve(false) };
  const server = await open({ space });
  const write = 'mutation { write(text: "x") }';
  const [http, socket] = [await ask(server, write), await askOverSocket(server, write)];
  expect(http).toMatchObject({
    status: 503,
    body: { errors: [{ message: MESSAGE, extensions: { code: "UNAVAILABLE" } }] },
  });
  expect(socket.errors).toMatchObject([{ message: MESSAGE, extensions: { code: "UNAVAILABLE" } }]);
  expect([
    (await ask(server, "{ hello }")).body,
    await askOverSocket(server, "{ hello }"),
    server.world.written,
  ]).toEqual([{ data: { hello: "world" } }, { data: { hello: "world" } }, []]);
  space.isLow = false;
  expect((await ask(server, write)).body).toEqual({ data: { write: "x" } });
});

test("an upload is refused before its bytes are read when the disk has no space for them", async () => {
  const asked: number[] = [];
  const publicUrl = () => server.url;
  const links = new FileLinks({ keys: [Buffer.alloc(32, 1)], clock: systemClock, publicUrl });
  const server = await open({
    uploads: {
      links,
      findSize: () => Promise.resolve(3),
      hasSpaceFor: async (bytes) => {
        asked.push(bytes);
        return false;
      },
      finish: () => Promise.reject(new Error("Nothing was expected to be stored.")),
    },
  });
  const url = links.uploadTo(randomUUID(), Date.now() + 60_000);
  const response = await fetch(url, { method: "PUT", body: "abc" });
  expect([response.status, await response.json(), asked]).toEqual([
    507,
    { errors: [{ message: MESSAGE, extensions: { code: "UNAVAILABLE" } }] },
    [3],
  ]);
});

test.each([
  ["a driver's error", (full: Error) => full],
  ["one that was wrapped", (full: Error) => new Error("query failed", { cause: full })],
  ["an outage", (full: Error) => new DatabaseUnavailable(full)],
])("a full disk of the database leaves as UNAVAILABLE and is logged: %s", (_name, wrap) => {
  const lines: string[] = [];
  const log = createLog("info", "parley", { write: (line: string) => void lines.push(line) });
  const mask = createErrorMask({ log, isProduction: true });
  const full = Object.assign(new Error("could not extend file"), { code: "53100" });
  const { message, extensions } = mask(wrap(full));
  expect([message, extensions]).toEqual([MESSAGE, { code: "UNAVAILABLE" }]);
  expect(lines).toHaveLength(1);
  expect(mask(new Error("other")).extensions?.code).toBe("INTERNAL_SERVER_ERROR");
});
