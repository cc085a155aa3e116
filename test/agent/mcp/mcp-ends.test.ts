// MCP servers when the workspace or its agent goes away.
import { rm } from "node:fs/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  callText,
  isAlive,
  startToolServerPlace,
  testServer,
  writeServers,
  type ToolServerPlace,
} from "./mcp-support.js";

let place: ToolServerPlace;
beforeEach(async () => {
  place = await startToolServerPlace();
});
afterEach(() => place.close());

test("[M7] starts servers at home when the workspace is gone", async () => {
  await writeServers(place.home, { one: testServer() }, "mine.json");
  const before = await place.where("one");
  await rm(place.agent.folder, { recursive: true });
  await writeServers(place.home, { two: testServer() }, "mine.json");
  expect([before.cwd, (await place.where("two")).cwd]).toEqual([place.agent.folder, place.home]);
});

test("[M23] the end of the agent is the end of its servers, of what they started, and of those that do not listen", async () => {
  await writeServers(place.agent.folder, { one: testServer(), two: testServer() });
  const pids = [
    (await place.where("one")).pid,
    (await place.where("two")).pid,
    Number(await callText(place.agent.connection, "one__parent")),
    Number(await callText(place.agent.connection, "two__ignores")),
  ];
  expect(pids.map(isAlive)).toEqual([true, true, true, true]);
  await place.agent.close();
  expect(pids.map(isAlive)).toEqual([false, false, false, false]);
});
