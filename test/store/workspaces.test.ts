import { afterAll, beforeAll, expect, test } from "vitest";
import { Database } from "../../src/store/common/database.js";
import type { PageRequest } from "../../src/store/common/pages.js";
import { getSetting, setSetting } from "../../src/store/common/settings.js";
import {
  type WorkspaceRecord,
  ensureLocalWorkspace,
  findWorkspace,
  listWorkspaces,
  touchWorkspaces,
} from "../../src/store/workspaces/workspaces.js";
import { type TestDatabase, createTestDatabase } from "../support/database/database.js";
import { insertViewer } from "../support/database/rows.js";

let own: TestDatabase;
let db: Database;
beforeAll(async () => {
  own = await createTestDatabase();
  db = new Database(own.dataSource);
});
afterAll(() => own.drop());

const PAGE: PageRequest = { direction: "forwards", limit: 2, after: null, before: null };

test("a directory is one workspace of a user, however often and by however many replicas it is requested", async () => {
  const viewer = await insertViewer(db);
  const wanted = { ownerId: viewer.userId, directory: "/code", name: "code" };
  const made = await Promise.all([1, 2, 3].map(() => ensureLocalWorkspace(db, wanted)));
  await own.dataSource.query("UPDATE workspaces SET status = 'failed', failure = 'gone' WHERE id = $1", [
    made[0]?.id,
  ]);
  const again = await ensureLocalWorkspace(db, { ...wanted, name: "other" });
  expect({ ids: new Set(made.map((it) => it.id)).size, again }).toEqual({ ids: 1, again: made[0] });
});

test("workspaces are listed for their owner, newest first, and found by admins too", async () => {
  const [viewer, stranger, admin] = [
    await insertViewer(db),
    await insertViewer(db),
    await insertViewer(db, "admin"),
  ];
  const made: WorkspaceRecord[] = [];
  for (const name of ["one", "two_", "three"]) {
    made.push(await ensureLocalWorkspace(db, { ownerId: viewer.userId, directory: `/${name}`, name }));
  }
  const first = await listWorkspaces(db, viewer, null, PAGE);
  const second = await listWorkspaces(db, viewer, null, { ...PAGE, after: first.rows[1]?.cursor ?? null });
  const names = (page: typeof first) => page.rows.map(({ row }) => row.name);
  expect({
    pages: [names(first), names(second)],
    more: [first.hasNextPage, second.hasNextPage],
    searched: names(await listWorkspaces(db, viewer, "O_", PAGE)),
    strangers: names(await listWorkspaces(db, stranger, null, PAGE)),
    found: await Promise.all(
      [viewer, stranger, admin].map(async (it) => (await findWorkspace(db, it, made[0]?.id ?? ""))?.name),
    ),
  }).toEqual({
    pages: [["three", "two_"], ["one"]],
    more: [true, false],
    searched: ["two_"],
    strangers: [],
    found: ["one", undefined, "one"],
  });
});

test("use of a workspace is recorded at most once a minute", async () => {
  const viewer = await insertViewer(db);
  const made = await ensureLocalWorkspace(db, { ownerId: viewer.userId, directory: "/used", name: "used" });
  const usedAt = async () => (await findWorkspace(db, viewer, made.id))?.lastUsedAt;
  const touch = () => touchWorkspaces(db, [made.id], Date.now());
  await touch();
  const soon = await usedAt();
  await own.dataSource.query("UPDATE workspaces SET last_used_at = '2026-01-01' WHERE id = $1", [made.id]);
  await touch();
  expect(soon).toBe(made.lastUsedAt);
  expect(await usedAt()).toBeGreaterThanOrEqual(made.lastUsedAt);
});

test("a setting stores any JSON, null bytes too, and the last write wins", async () => {
  const value = { list: [1, "a\u0000b", null], on: true };
  const before = await getSetting(db, "test");
  await setSetting(db, { key: "test", value: "first", updatedBy: null });
  await setSetting(db, { key: "test", value, updatedBy: null });
  expect([before, await getSetting(db, "test")]).toEqual([null, value]);
});
