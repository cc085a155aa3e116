// The leak check finds and names what a file leaves open.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { watch } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { leftSince, openNow } from "./leftovers.js";
import { noteOpen } from "./open-things.js";

test("what is open is named until it is closed", async () => {
  const before = openNow();
  const close: (() => unknown)[] = [];

  const timer = setTimeout(() => undefined, 1_000_000);
  close.push(() => clearTimeout(timer));
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  close.push(() => server.close());
  const { port } = server.address() as { port: number };
  const socket = connect(port, "127.0.0.1");
  const [accepted] = (await Promise.all([once(server, "connection"), once(socket, "connect")])).flat() as [
    { destroy(): void },
  ];
  close.push(
    () => socket.destroy(),
    () => accepted.destroy(),
  );
  const watcher = watch(tmpdir(), { persistent: true });
  close.push(() => watcher.close());
  const child = spawn("sleep", ["600"], { stdio: "ignore" });
  child.unref();
  close.push(() => child.kill("SIGKILL"));
  close.push(noteOpen("the database of this test"));

  const left = leftSince(before).join("\n");
  for (const name of [
    "the database of this test",
    `"port":${port}`,
    `to 127.0.0.1:${port}`,
    `the process ${child.pid}: sleep 600`,
    "a timer",
  ])
    expect(left).toContain(name);
  expect(left).toMatch(/FSEvent|FSWatcher/);
  for (const end of close) end();
  while (leftSince(before).length > 0) await new Promise((resolve) => setImmediate(resolve));
});
