// Access to the whole API: every query, mutation, subscription and field of every type, for all callers including
// tokens with fewer scopes, as one table that is compared with the schema. PARLEY_PRINT_RIGHTS=1 prints the results.
import { GraphQLObjectType } from "graphql";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ApiClient } from "../../support/clients/api-client.js";
import { schema } from "../../support/users/schema-caller.js";
import {
  type Caller,
  CALLERS,
  type Cells,
  cellsOf,
  ALL_USERS,
  type Kind,
  OWNER_AND_ADMINS,
} from "./callers.js";
import { askRoot, askType, fieldsOf, outcomeOf } from "./evaluate.js";
import { gapsIn } from "./completeness.js";
import { followAsEvents, followOverSocket } from "./subscribe-once.js";
import { entriesOf, type RootEntry, type RootEntries } from "./entries.js";
import { TABLE } from "./table.js";
import { makeWorld, type World } from "./world.js";

let world: World;
beforeAll(async () => {
  world = await makeWorld();
});
afterAll(() => world.remove());

/** Evaluates the entry for all callers concurrently. */
async function askAll<T>(ask: (api: ApiClient) => Promise<T>): Promise<Record<Caller, T>> {
  const found = world.clients.map(async ([caller, api]) => [caller, await ask(api)] as const);
  return Object.fromEntries(await Promise.all(found)) as Record<Caller, T>;
}

const printed: string[][] = [];
function print(element: string, cells: Cells): void {
  printed.push([element, ...CALLERS.map((caller) => cells[caller])]);
}
afterAll(() => {
  if (process.env["PARLEY_PRINT_RIGHTS"] !== "1") return;
  const head = ["element", ...CALLERS];
  const rows = [head, head.map(() => "---"), ...printed];
  process.stdout.write(`${rows.map((row) => `| ${row.join(" | ")} |`).join("\n")}\n`);
});

type Case = { name: string; field: string; entry: RootEntry };
function casesOf(root: string, entries: RootEntries): [string, Case][] {
  return Object.keys(entries).flatMap((field) =>
    entriesOf(entries[field]).map((entry): [string, Case] => {
      const name = `${root}.${field}${entry.when === undefined ? "" : ` (${entry.when})`}`;
      return [name, { name, field, entry }];
    }),
  );
}

test("every part of the schema has a rule, and every rule has its field", () => {
  expect(gapsIn(TABLE, schema)).toEqual([]);
});

const ROOTS: [Kind, [string, Case][]][] = [
  ["read", casesOf("Query", TABLE.queries)],
  ["change", casesOf("Mutation", TABLE.changes)],
  ["administer", casesOf("Mutation", TABLE.administration)],
];
describe.each(ROOTS)("%s", (kind, cases) => {
  test.each(cases)("%s is only accessible to permitted users", async (name, asked) => {
    const cells = await askAll((api) => askRoot(api, world, asked));
    print(name, cells);
    expect(cells).toEqual(cellsOf(kind, asked.entry.rule));
  });
});

const ON_ALL_TRANSPORTS = new Set([
  "Query.chat",
  "Query.users",
  "Mutation.updateChat",
  "Mutation.updateUser",
]);
const TRANSPORTS = [
  ["over a socket", followOverSocket],
  ["as an event stream", followAsEvents],
] as const;
describe.each(TRANSPORTS)("%s", (transport, follow) => {
  test.each(casesOf("Subscription", TABLE.subscriptions))(
    "%s can only be followed by permitted users",
    async (name, { field, entry }) => {
      const question = await entry.ask(world, field);
      const cells = await askAll((api) => follow(api, question));
      print(`${name}, ${transport}`, cells);
      expect(cells).toEqual(cellsOf("read", entry.rule));
    },
  );

  // All transports share one gate: one entry of each kind shows that WebSockets and event streams use it, too.
  test.each(
    ROOTS.flatMap(([kind, cases]) =>
      cases.filter(([name]) => ON_ALL_TRANSPORTS.has(name)).map((it) => [kind, ...it] as const),
    ),
  )("%s %s is accessible to the same callers as over HTTP", async (kind, _name, { field, entry }) => {
    const cells = await askAll(async (api) =>
      follow(api, await entry.ask(world, field), (data) => outcomeOf(data[field], entry.at ?? "")),
    );
    expect(cells).toEqual(cellsOf(kind, entry.rule));
  });
});

const WAYS = Object.entries(TABLE.types).flatMap(([name, entry]) =>
  (entry.reached ?? []).map((way) => {
    const title = `${name}${way.when === undefined ? "" : ` (${way.when})`}`;
    return [title, { name, entry, way }] as const;
  }),
);
test.each(WAYS)(
  "the fields of %s are only accessible to permitted users",
  async (title, { name, entry, way }) => {
    const type = schema.getType(name);
    if (!(type instanceof GraphQLObjectType)) throw new Error(`${name} is no object type.`);
    const found = await askAll((api) => askType(api, world, { type, entry, way }));
    const cells = fieldsOf(entry).map((field) => {
      const of = (caller: Caller) => found[caller][field] ?? "nothing";
      return [field, Object.fromEntries(CALLERS.map((caller) => [caller, of(caller)])) as Cells] as const;
    });
    for (const [field, found] of cells) print(`${name}.${field} (${title})`, found);
    const expected = fieldsOf(entry).map((field) => {
      const narrower = way.guarded?.[field] ?? entry.guarded?.[field];
      return [field, cellsOf(way.kind ?? "read", narrower ?? way.rule)];
    });
    expect(Object.fromEntries(cells)).toEqual(Object.fromEntries(expected));
  },
);

test("a file's bytes are only accessible to users who can see the file", async () => {
  const words: Record<number, string> = {
    200: "shown",
    401: "UNAUTHENTICATED",
    403: "no scope",
    404: "nothing",
  };
  const cells = await askAll(async ({ url, token }) => {
    const headers = new Headers(token === null ? [] : [["authorization", `Bearer ${token}`]]);
    const { status } = await fetch(`${url}/files/${world.fileId}`, { headers });
    return words[status] ?? String(status);
  });
  print("GET /files/:id", cells);
  expect(cells).toEqual(cellsOf("read", OWNER_AND_ADMINS));
});

test("introspection is available to everyone who may read", async () => {
  const cells = await askAll((api) =>
    askRoot(api, world, {
      field: "__schema",
      entry: { rule: ALL_USERS, ask: () => ({ query: "{ __schema { types { name } } }", variables: {} }) },
    }),
  );
  expect(cells).toEqual(cellsOf("read", ALL_USERS));
});
