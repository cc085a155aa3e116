// The chat list and its events, through the public API of a running server.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ApiClient } from "../../support/clients/api-client.js";
import { ListFollower, readList } from "../../support/clients/list-follower.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";

let environment: TestEnvironment;
let server: TestParley;
let api: ApiClient;
let users = 0;
beforeAll(async () => {
  environment = await createTestEnvironment();
  server = await environment.start();
});
afterAll(() => environment.remove());
beforeEach(async () => {
  users += 1;
  api = await server.addUser(`person-${users}`);
});

const opening = ["refresh FIRST_SNAPSHOT", "caught-up 0"];
const isOpen = ({ story }: ListFollower) => story.some((word) => word.startsWith("caught-up"));

async function follow(who: ApiClient = api): Promise<ListFollower> {
  const list = new ListFollower(who);
  await list.until(isOpen);
  return list;
}

function lastWords(words: number) {
  return ({ story }: ListFollower) => story.length >= words;
}

async function mark(who: ApiClient, chatId: string) {
  return who.change<{ chat: { isUnread: boolean } | null; userErrors: unknown[] }>(
    "markChatRead",
    { chatId },
    "chat { isUnread }",
  );
}

test("a chat is created, runs, becomes unread, is renamed, archived and restored", async () => {
  const list = await follow();
  const chatId = await api.createChat("[[demo: deltas=2]]");
  await list.until(lastWords(5));
  await api.change("updateChat", { chatId, title: "Named" }, "chat { id }");
  await api.change("archiveChat", { chatId }, "chat { id }");
  await api.change("unarchiveChat", { chatId }, "chat { id }");
  await list.until(lastWords(8));
  expect(list.story).toEqual([
    ...opening,
    "created",
    "RUNNING",
    "WAITING unread",
    "title Named",
    "removed ARCHIVED",
    "created",
  ]);
  expect([...list.rows.values()]).toEqual([
    { id: chatId, title: "Named", status: "WAITING", isUnread: true },
  ]);
  await list.untilTrue();
  await list.close();
});

test("events of other users' chats are not received, not even by an admin", async () => {
  const [own, admin] = [await follow(), await follow(server.api)];
  const other = await server.addUser(`other-${users}`);
  const theirs = await follow(other);
  await other.createChat("[[demo: deltas=1]]");
  await theirs.until(lastWords(5));
  expect([own.story, admin.story]).toEqual([opening, opening]);
  await Promise.all([own.close(), admin.close(), theirs.close()]);
});

test("a resumed subscription delivers exactly the missed events", async () => {
  const chatId = await api.createChat("[[demo: deltas=1]]");
  const first = await follow();
  await first.until(({ rows }) => rows.get(chatId)?.status === "WAITING");
  const seen = first.story.length;
  await first.close();
  await api.change("updateChat", { chatId, title: "Meanwhile" }, "chat { id }");
  await api.change("archiveChat", { chatId }, "chat { id }");
  const second = new ListFollower(api, first);
  await second.until(isOpen);
  expect([second.story, second.rows.size, seen > 1]).toEqual([
    ["title Meanwhile", "removed ARCHIVED", "caught-up 2"],
    0,
    true,
  ]);
  await second.close();
});

test("an unknown cursor causes a refresh", async () => {
  const list = new ListFollower(api, { cursor: "bm9uc2Vuc2U" });
  await list.until(isOpen);
  expect(list.story).toEqual(["refresh CURSOR_TOO_OLD", "caught-up 0"]);
  await list.close();
});

describe("unread", () => {
  test("a chat with a response that was not followed is unread, and the filter finds it", async () => {
    const list = await follow();
    const chatId = await api.createChat("[[demo: deltas=1]]");
    await list.until(({ rows }) => rows.get(chatId)?.isUnread === true);
    const found = async (isUnread: boolean) => [...(await readList(api, { isUnread })).keys()];
    expect([await found(true), await found(false)]).toEqual([[chatId], []]);
    expect(await mark(api, chatId)).toEqual({ chat: { isUnread: false }, userErrors: [] });
    await list.until(({ rows }) => rows.get(chatId)?.isUnread === false);
    expect([await found(true), await found(false)]).toEqual([[], [chatId]]);
    const eventsBefore = list.story.length;
    expect(await mark(api, chatId)).toEqual({ chat: { isUnread: false }, userErrors: [] });
    await api.change("updateChat", { chatId, title: "The end" }, "chat { id }");
    await list.until(({ story }) => story.at(-1) === "title The end");
    expect(list.story.length).toBe(eventsBefore + 1);
    await list.close();
  });

  test("a chat followed by its owner is never unread, and is read after they disconnect", async () => {
    const { chatId, follower } = await api.quietChat();
    const list = await follow();
    await api.send(chatId, "[[demo: deltas=3]]");
    await follower.untilStatus("WAITING");
    await list.until(({ story }) => story.filter((word) => word === "WAITING").length >= 2);
    await follower.close();
    expect(list.story.filter((word) => word.includes("unread"))).toEqual([]);
    await list.untilTrue();
    expect(await readList(api, { isUnread: true })).toEqual(new Map());
    await list.close();
  });

  test("following an unread chat marks it as read, unless the follower is an admin", async () => {
    const list = await follow();
    const chatId = await api.createChat("[[demo: deltas=1]]");
    await list.until(({ rows }) => rows.get(chatId)?.isUnread === true);
    const snooping = server.api.follow(chatId);
    await snooping.untilStatus("WAITING");
    await snooping.close();
    expect(await mark(server.api, chatId)).toEqual({
      chat: null,
      userErrors: [
        {
          __typename: "InvalidInput",
          code: "INVALID",
          message: "Only its owner can mark a chat as read.",
          path: ["chatId"],
        },
      ],
    });
    expect((await readList(api)).get(chatId)?.isUnread).toBe(true);
    const looking = api.follow(chatId);
    await list.until(({ rows }) => rows.get(chatId)?.isUnread === false);
    await looking.close();
    await list.close();
  });

  test("marking a chat as read changes neither its version nor its position in the list", async () => {
    const list = await follow();
    const chatId = await api.createChat("[[demo: deltas=1]]");
    await list.until(({ rows }) => rows.get(chatId)?.isUnread === true);
    const shown = () =>
      api.get("query ($id: ID!) { chat(id: $id) { eventCursor updatedAt } }", { id: chatId });
    const before = await shown();
    await mark(api, chatId);
    expect(await shown()).toEqual(before);
    await list.close();
  });

  test("another user's chat cannot be marked as read, and is reported as not found", async () => {
    const chatId = await server.api.createChat("[[demo: deltas=1]]");
    const { userErrors } = await mark(api, chatId);
    expect(userErrors).toEqual([
      { __typename: "NotFound", code: "NOT_FOUND", message: "There is no such chat.", path: ["chatId"] },
    ]);
  });
});

test("with forty chats at once, two sidebars both end up with the list that the API returns", async () => {
  const lists = [await follow(), await follow()];
  const chats = await Promise.all(
    Array.from({ length: 40 }, (_, index) => api.createChat(`[[demo: deltas=2]] ${index}`)),
  );
  await Promise.all(
    chats.map((chatId, index) =>
      index % 2 === 0
        ? api.change("updateChat", { chatId, title: `Name ${index}` }, "chat { id }")
        : api.change("archiveChat", { chatId }, "chat { id }"),
    ),
  );
  for (const list of lists)
    await list.until(({ rows }) => [...rows.values()].every(({ status }) => status === "WAITING"));
  for (const list of lists) await list.untilTrue();
  expect(lists.map(({ rows }) => rows.size)).toEqual([20, 20]);
  for (const list of lists) await list.close();
});
