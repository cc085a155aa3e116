// The audit log: the entries of admins' changes, and who can read them.
import { afterAll, beforeAll, expect, test } from "vitest";
import { OPERATOR } from "../../../src/domain/users/audit.js";
import { encodeId } from "../../../src/domain/common/ids.js";
import { type Actor, Forbidden } from "../../../src/domain/users/viewer.js";
import { asAdmin } from "../../../src/commands/users/admin.js";
import { recordAudit } from "../../../src/store/users/audit-log.js";
import { findUserByUsername } from "../../../src/store/users/users.js";
import type { ApiClient } from "../../support/clients/api-client.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";

let environment: TestEnvironment;
let server: TestParley;
let member: ApiClient;
/** The first admin, another one, and a member. */
let actors: { admin: Actor; other: Actor; member: Actor };
beforeAll(async () => {
  environment = await createTestEnvironment();
  server = await environment.start();
  await server.addUser("other", "admin");
  member = await server.addUser("member");
  actors = { admin: await actor("admin"), other: await actor("other"), member: await actor("member") };
});
afterAll(() => environment.remove());

async function actor(username: string): Promise<Actor> {
  const found = await findUserByUsername(server.parley.database, username);
  if (!found) throw new Error(`There is no ${username}.`);
  return { ...found, userId: found.id, expiresAt: null, requestId: `request of ${username}` };
}

type Entry = {
  id: string;
  at: string;
  actor: { username: string } | null;
  actorName: string;
  action: string;
  targetKind: string;
  targetId: string | null;
  targetName: string | null;
  changes: object[];
  requestId: string | null;
};
type Shown = { nodes: Entry[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } };

const QUERY = `query ($filter: AuditLogFilterInput, $first: Int, $after: String) {
  auditLog(filter: $filter, first: $first, after: $after) {
    nodes {
      id at actor { username } actorName action targetKind targetId targetName requestId
      changes { field before after isSecret isSet }
    }
    pageInfo { hasNextPage endCursor }
  }
}`;

async function read(variables: object = {}, api = server.api): Promise<Shown> {
  return (await api.get<{ auditLog: Shown }>(QUERY, variables)).auditLog;
}

const namesOf = ({ nodes }: Shown) => nodes.map(({ targetName }) => targetName);

/** An admin's change of a user, made like those of commands; `name` is the name in the log. */
function rename(who: Actor, name: string, changes = {}) {
  return asAdmin(server.parley, who, async (transaction) => {
    const statement = { name: "test.rename", text: "UPDATE users SET name = $2 WHERE id = $1" };
    await transaction.query(statement, [actors.member.userId, name]);
    if (name === "") {
      return { ok: false, refusal: { code: "INVALID", message: "The name is blank.", path: ["name"] } };
    }
    if (name === "broken") throw new Error("The world broke.");
    const targetId = encodeId("user", actors.member.userId);
    const audit = { action: "user_updated", targetId, targetName: name, changes } as const;
    return { ok: true, result: { name }, audit: name === "nothing" ? null : audit };
  });
}

async function nameOf(who: Actor): Promise<unknown> {
  const rows = await server.parley.database.dataSource.query<{ name: string }[]>(
    "SELECT name FROM users WHERE id = $1",
    [who.userId],
  );
  return rows[0]?.name;
}

test("a change and its entry are committed together, with actor, request and changed fields", async () => {
  const changes = { name: { before: "member", after: "Ada" }, apiKey: { set: true as const } };
  expect(await rename(actors.admin, "Ada", changes)).toEqual({ ok: true, name: "Ada" });
  const [entry] = (await read({ first: 1 })).nodes;
  expect(entry).toEqual({
    id: expect.stringMatching(/^audit_\d+$/) as string,
    at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    actor: { username: "admin" },
    actorName: "admin",
    action: "USER_UPDATED",
    targetKind: "USER",
    targetId: encodeId("user", actors.member.userId),
    targetName: "Ada",
    requestId: "request of admin",
    changes: [
      { field: "apiKey", before: null, after: null, isSecret: true, isSet: true },
      { field: "name", before: "member", after: "Ada", isSecret: false, isSet: null },
    ],
  });
  const node = "query ($id: ID!) { node(id: $id) { ... on AuditLogEntry { targetName } } }";
  expect(await server.api.get(node, { id: entry?.id })).toEqual({ node: { targetName: "Ada" } });
  expect(await member.get(node, { id: entry?.id })).toEqual({ node: null });
});

test("a refused, failed or empty change leaves no entry and no partial writes", async () => {
  const before = await read();
  expect(await rename(actors.admin, "")).toMatchObject({
    ok: false,
    refusal: { code: "INVALID", path: ["name"] },
  });
  await expect(rename(actors.admin, "broken")).rejects.toThrow("The world broke.");
  expect(await nameOf(actors.member)).toBe("Ada");
  expect(await rename(actors.admin, "nothing")).toEqual({ ok: true, name: "nothing" });
  expect(await read()).toEqual(before);
});

test("only current admins can make changes, whatever role a socket was opened with", async () => {
  await expect(rename(actors.member, "Eve")).rejects.toThrow(Forbidden);
  await expect(rename({ ...actors.member, role: "admin" }, "Eve")).rejects.toThrow(Forbidden);
  expect(await nameOf(actors.member)).not.toBe("Eve");
});

test("members may not read it", async () => {
  const { data, errors } = await member.ask(QUERY);
  expect({ data, codes: errors.map(({ extensions }) => extensions.code) }).toEqual({
    data: null,
    codes: ["FORBIDDEN"],
  });
});

test("it is read in pages, newest first, and new entries shift no page", async () => {
  for (const name of ["p1", "p2", "p3", "p4", "p5"]) await rename(actors.other, name);
  const filter = { actorId: encodeId("user", actors.other.userId) };
  const first = await read({ filter, first: 2 });
  await rename(actors.other, "p6");
  const second = await read({ filter, first: 2, after: first.pageInfo.endCursor });
  const third = await read({ filter, first: 2, after: second.pageInfo.endCursor });
  expect([first, second, third].map(namesOf)).toEqual([["p5", "p4"], ["p3", "p2"], ["p1"]]);
  expect([first, second, third].map(({ pageInfo }) => pageInfo.hasNextPage)).toEqual([true, true, false]);
});

test("it is filtered by actor, action, target and time", async () => {
  const { database } = server.parley;
  const entry = { action: "workspace_created", targetId: null, targetName: "laptop", changes: {} } as const;
  await recordAudit(database, OPERATOR, entry);
  const all = await read();
  const [newest, next] = all.nodes;
  expect(newest).toMatchObject({ actor: null, actorName: "operator", requestId: null, targetName: "laptop" });
  const target = { targetKind: "USER", targetId: encodeId("user", actors.member.userId) };
  const named = async (filter: object) => namesOf(await read({ filter, first: 100 }));
  const users = namesOf(all).filter((name) => name !== "laptop");
  expect({
    kind: await named({ targetKind: "WORKSPACE" }),
    action: await named({ actions: ["WORKSPACE_CREATED", "MCP_SERVER_CREATED"] }),
    noAction: await named({ actions: [] }),
    target: await named(target),
    otherTarget: await named({ ...target, targetId: encodeId("user", actors.admin.userId) }),
    targetAndActor: await named({ ...target, actorId: encodeId("user", actors.admin.userId) }),
    until: await named({ range: { from: "2020-01-01T00:00:00.000Z", to: newest?.at } }),
    from: await named({ range: { from: newest?.at, to: "2100-01-01T00:00:00.000Z" } }),
  }).toEqual({
    kind: ["laptop"],
    action: ["laptop"],
    noAction: [],
    target: users,
    otherTarget: [],
    targetAndActor: ["Ada"],
    // Times have millisecond precision, so entries of the same millisecond count as later.
    until: namesOf({ ...all, nodes: all.nodes.filter(({ at }) => at < (newest?.at ?? "")) }),
    from: namesOf({ ...all, nodes: all.nodes.filter(({ at }) => at >= (newest?.at ?? "")) }),
  });
  expect(next?.targetName).not.toBe("laptop");
});

test.each([
  [
    "a range that ends before it begins",
    { range: { from: "2026-01-02T00:00:00Z", to: "2026-01-01T00:00:00Z" } },
    "filter.range.to",
  ],
  [
    "an empty range",
    { range: { from: "2026-01-01T00:00:00Z", to: "2026-01-01T00:00:00Z" } },
    "filter.range.to",
  ],
  ["an actor that is no user", { actorId: "ws_1" }, "filter.actorId"],
  ["a target that no id names", { targetId: "user_\u0000" }, "filter.targetId"],
  ["an action that there is not", { actions: ["USER_FRAMED"] }, "filter.actions[0]"],
])("%s is refused with its name", async (_what, filter, named) => {
  const { data, errors } = await server.api.ask(QUERY, { filter });
  expect({ data, errors }).toEqual({
    data: null,
    errors: [
      expect.objectContaining({
        message: expect.stringContaining(named) as string,
        extensions: expect.objectContaining({ code: "BAD_USER_INPUT" }) as object,
      }),
    ],
  });
});
