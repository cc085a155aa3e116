import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Viewer } from "../../src/domain/users/viewer.js";
import { type ChatFilter, type ChatOrder, findChat, listChats } from "../../src/store/chats/chats.js";
import { Database } from "../../src/store/common/database.js";
import type { CursorKey, PageRequest } from "../../src/store/common/pages.js";
import { ensureLocalWorkspace } from "../../src/store/workspaces/workspaces.js";
import { type TestDatabase, createTestDatabase } from "../support/database/database.js";
import { insertChat, insertViewer } from "../support/database/rows.js";

let own: TestDatabase;
let db: Database;
beforeAll(async () => {
  own = await createTestDatabase();
  db = new Database(own.dataSource);
});
afterAll(() => own.drop());

const FIRST_PAGE: PageRequest = { direction: "forwards", limit: 50, after: null, before: null };

/** All pages in turn, in the direction, each from where the one before ended. */
async function walk(viewer: Viewer, order: ChatOrder, page: Pick<PageRequest, "direction" | "limit">) {
  const pages: string[][] = [];
  let after: CursorKey | null = null;
  let before: CursorKey | null = null;
  for (;;) {
    const found: Awaited<ReturnType<typeof listChats>> = await listChats(
      db,
      viewer,
      { order },
      { ...page, after, before },
    );
    pages.push(found.rows.map(({ row }) => row.id));
    if (page.direction === "forwards" ? !found.hasNextPage : !found.hasPreviousPage) return pages;
    after = page.direction === "forwards" ? (found.rows.at(-1)?.cursor ?? null) : null;
    before = page.direction === "backwards" ? (found.rows[0]?.cursor ?? null) : null;
  }
}

async function titles(viewer: Viewer, filter: ChatFilter): Promise<string[]> {
  const found = await listChats(db, viewer, { order: "updated", ...filter }, FIRST_PAGE);
  return found.rows.map(({ row }) => row.state.title).sort();
}

test("120 chats, many of them of the same instant or a microsecond apart, are each seen once, in order", async () => {
  const viewer = await insertViewer(db);
  const rows = Array.from({ length: 120 }, (_, index) => ({
    id: randomUUID(),
    // Forty instants, each a microsecond after the other, with three chats each.
    updatedAt: `2026-01-01T00:00:00.${String(Math.floor(index / 3)).padStart(6, "0")}Z`,
  }));
  for (const row of rows) await insertChat(db, { ...row, ownerId: viewer.userId });
  const sorted = rows
    .sort((a, b) =>
      a.updatedAt === b.updatedAt ? (a.id < b.id ? 1 : -1) : a.updatedAt < b.updatedAt ? 1 : -1,
    )
    .map((row) => row.id);

  const forwards = await walk(viewer, "updated", { direction: "forwards", limit: 7 });
  const backwards = await walk(viewer, "updated", { direction: "backwards", limit: 7 });

  expect(forwards.map((page) => page.length)).toEqual([...Array<number>(17).fill(7), 1]);
  expect(forwards.flat()).toEqual(sorted);
  expect(backwards.reverse().flat()).toEqual(sorted);
});

test("a page between two cursors has what is strictly between them", async () => {
  const viewer = await insertViewer(db);
  const ids: string[] = [];
  for (const day of [5, 4, 3, 2, 1]) {
    ids.push(await insertChat(db, { ownerId: viewer.userId, createdAt: `2026-01-0${day}` }));
  }
  const all = await listChats(db, viewer, { order: "created" }, FIRST_PAGE);
  const [after = null, before = null] = [all.rows[0]?.cursor, all.rows[4]?.cursor];

  const between = await listChats(
    db,
    viewer,
    { order: "created" },
    { ...FIRST_PAGE, limit: 2, after, before },
  );

  expect({ ...between, rows: between.rows.map(({ row }) => row.id) }).toEqual({
    rows: ids.slice(1, 3),
    hasPreviousPage: true,
    hasNextPage: true,
  });
});

test("a chat that is touched while the list is read moves to the front and shifts no page", async () => {
  const viewer = await insertViewer(db);
  const ids: string[] = [];
  for (const day of [4, 3, 2, 1]) {
    ids.push(await insertChat(db, { ownerId: viewer.userId, updatedAt: `2026-01-0${day}` }));
  }
  const first = await listChats(db, viewer, { order: "updated" }, { ...FIRST_PAGE, limit: 2 });
  await own.dataSource.query("UPDATE chats SET updated_at = now() WHERE id = $1", [ids[0]]);

  const second = await listChats(
    db,
    viewer,
    { order: "updated" },
    { ...FIRST_PAGE, limit: 2, after: first.rows[1]?.cursor ?? null },
  );

  expect(second.rows.map(({ row }) => row.id)).toEqual(ids.slice(2));
});

test("each filter lets through what it names, and all of them together what fits all", async () => {
  const viewer = await insertViewer(db);
  const place = { ownerId: viewer.userId, directory: "/somewhere", name: "here" };
  const workspace = await ensureLocalWorkspace(db, place);
  const chat = (title: string, more: object) => insertChat(db, { ownerId: viewer.userId, title, ...more });
  await chat("100% sure", { labels: { team: "red", sprint: "7" } });
  await chat("100 pounds", { status: "error", labels: { team: "red" } });
  await chat("Under_score", { status: "pending", workspaceId: workspace.id });
  await chat("UnderXscore \\ back", { archived: true });

  expect({
    standard: await titles(viewer, { archived: false }),
    archived: await titles(viewer, { archived: true }),
    both: (await titles(viewer, { archived: null })).length,
    percent: await titles(viewer, { search: "100%" }),
    underscore: await titles(viewer, { search: "under_S" }),
    backslash: await titles(viewer, { search: "\\" }),
    statuses: await titles(viewer, { statuses: ["error", "pending"] }),
    noStatus: await titles(viewer, { statuses: [] }),
    workspace: await titles(viewer, { workspaceId: workspace.id }),
    label: await titles(viewer, { labels: { team: "red" } }),
    labels: await titles(viewer, { labels: { team: "red", sprint: "7" } }),
    together: await titles(viewer, { labels: { team: "red" }, statuses: ["error"], search: "POUND" }),
  }).toEqual({
    standard: ["100 pounds", "100% sure", "Under_score"],
    archived: ["UnderXscore \\ back"],
    both: 4,
    percent: ["100% sure"],
    underscore: ["Under_score"],
    backslash: ["UnderXscore \\ back"],
    statuses: ["100 pounds", "Under_score"],
    noStatus: [],
    workspace: ["Under_score"],
    label: ["100 pounds", "100% sure"],
    labels: ["100% sure"],
    together: ["100 pounds"],
  });
});

test("a member sees only their own chats; an admin their own by default, and any user's on request", async () => {
  const [anna, bert, admin] = [
    await insertViewer(db),
    await insertViewer(db),
    await insertViewer(db, "admin"),
  ];
  const chatId = await insertChat(db, { ownerId: anna.userId, title: "Anna's" });
  await insertChat(db, { ownerId: admin.userId, title: "Admin's" });
  const found = await Promise.all([anna, bert, admin].map((viewer) => findChat(db, viewer, chatId)));

  expect({
    found: found.map((record) => record?.state.title ?? null),
    nobody: await findChat(db, admin, randomUUID()),
    bertAsks: await titles(bert, { ownerId: anna.userId }),
    adminAsks: await titles(admin, { ownerId: anna.userId }),
    adminAlone: await titles(admin, {}),
  }).toEqual({
    found: ["Anna's", null, "Anna's"],
    nobody: null,
    bertAsks: [],
    adminAsks: ["Anna's"],
    adminAlone: ["Admin's"],
  });
});
