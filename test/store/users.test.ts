import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createDataSource } from "../../src/store/data-source.js";
import { Database } from "../../src/store/common/database.js";
import { authenticateToken, createToken } from "../../src/store/users/tokens.js";
import { createUser, ensureFirstAdmin } from "../../src/store/users/users.js";
import { type TestDatabase, createTestDatabase } from "../support/database/database.js";
import { insertViewer } from "../support/database/rows.js";

let own: TestDatabase;
let db: Database;
beforeEach(async () => {
  own = await createTestDatabase();
  db = new Database(own.dataSource);
});
afterEach(() => own.drop());

const HOUR_MS = 3_600_000;
const whole = { kind: "token", scopes: ["read", "chat", "admin"] };

describe("tokens", () => {
  test("a token authenticates its owner until it expires", async () => {
    const viewer = await insertViewer(db, "admin");
    const later = Date.now() + HOUR_MS;
    const wanted = { userId: viewer.userId, name: "test" };
    const lasting = await createToken(db, wanted);
    const passing = await createToken(db, { ...wanted, expiresAt: later });
    const past = await createToken(db, { ...wanted, expiresAt: Date.now() - 1 });
    expect(lasting.token).toMatch(/^ply_[A-Za-z0-9_-]{43}$/);
    expect({
      lasting: await authenticateToken(db, lasting.token),
      passing: await authenticateToken(db, passing.token),
      past: await authenticateToken(db, past.token),
    }).toEqual({
      lasting: { ...viewer, credential: whole },
      passing: { ...viewer, expiresAt: later, credential: whole },
      past: null,
    });
  });

  test.each(["", "ply_", "\u0000", "x".repeat(10_000_000), "'; DROP TABLE users; --"])(
    "a malformed token authenticates no user (%#)",
    async (nonsense) => {
      expect(await authenticateToken(db, nonsense)).toBeNull();
    },
  );

  test("an admin's token without the scope ADMIN makes them a member", async () => {
    const admin = await insertViewer(db, "admin");
    const { token } = await createToken(db, { userId: admin.userId, name: "test", scopes: ["read", "chat"] });
    expect(await authenticateToken(db, token)).toEqual({
      ...admin,
      role: "member",
      credential: { kind: "token", scopes: ["read", "chat"] },
    });
  });

  test("only the hash of a token is stored", async () => {
    const viewer = await insertViewer(db);
    const { token } = await createToken(db, { userId: viewer.userId, name: "test" });
    const rows: unknown = await own.dataSource.query(
      "SELECT t.*, encode(token_hash, 'escape') AS text FROM api_tokens t",
    );
    expect(JSON.stringify(rows)).not.toContain(token.slice("ply_".length));
  });

  test("use is recorded at most once a minute", async () => {
    const viewer = await insertViewer(db);
    const { token } = await createToken(db, { userId: viewer.userId, name: "test" });
    const usedAt = async (): Promise<Date> => {
      await authenticateToken(db, token);
      const [row] = await own.dataSource.query("SELECT last_used_at FROM api_tokens");
      return row.last_used_at;
    };
    const first = await usedAt();
    const second = await usedAt();
    await own.dataSource.query("UPDATE api_tokens SET last_used_at = now() - interval '61 seconds'");
    const third = await usedAt();
    expect({ isNoted: first instanceof Date, isSame: second.getTime() === first.getTime() }).toEqual({
      isNoted: true,
      isSame: true,
    });
    expect(third.getTime()).toBeGreaterThanOrEqual(first.getTime());
  });
});

test("a username belongs to one user", async () => {
  const person = { username: "anna", name: "Anna", role: "member" as const };
  const first = await createUser(db, person);
  const made = { id: first?.id, ...person, isActive: true, createdAt: expect.any(Date) as Date };
  expect([first, await createUser(db, person)]).toEqual([made, null]);
});

describe("the first admin", () => {
  test("is created once, with a token, however many replicas start together", async () => {
    const other = createDataSource(own.options);
    await other.initialize();
    const second = new Database(other);
    const made = await Promise.all([db, second, db, second].map((it) => ensureFirstAdmin(it, {})));
    await second.close();
    const tokens = made.filter((it) => it !== null);
    const people: unknown[] = await db.dataSource.query("SELECT id FROM users");
    expect({ people: people.length, tokens: tokens.length }).toEqual({ people: 1, tokens: 1 });
    expect(await authenticateToken(db, tokens[0]?.token ?? "")).toMatchObject({
      username: "admin",
      role: "admin",
    });
  });

  test("has the configured token; a new one there replaces it", async () => {
    const [one, two] = ["configured-token-1", "configured-token-2"];
    const first = await ensureFirstAdmin(db, { token: one });
    const again = await ensureFirstAdmin(db, { token: one });
    const changed = await ensureFirstAdmin(db, { token: two });
    expect({
      tokens: [first?.token, again?.token, changed?.token],
      isOnePerson: new Set([first?.user.id, again?.user.id, changed?.user.id]).size === 1,
      old: await authenticateToken(db, one),
      current: (await authenticateToken(db, two))?.userId === first?.user.id,
      silent: await ensureFirstAdmin(db, {}),
    }).toEqual({ tokens: [one, one, two], isOnePerson: true, old: null, current: true, silent: null });
  });

  test("is created beside a member who already has the name", async () => {
    await createUser(db, { username: "admin", name: "Not an admin", role: "member" });
    const made = await ensureFirstAdmin(db, {});
    expect(made?.user.username).toMatch(/^admin-[0-9a-f]{8}$/);
  });
});
