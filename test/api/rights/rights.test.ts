// Who gets what of the whole API: every query, mutation and subscription and every field of every type, for everybody
// and for tokens of less, as one table that the schema is held against. PARLEY_PRINT_RIGHTS=1 prints what was found.
import { GraphQLObjectType } from "graphql";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ApiClient } from "../../support/clients/api-client.js";
import { schema } from "../../support/users/schema-caller.js";
import { type Asker, ASKERS, type Cells, cellsOf, EVERYBODY, type Kind, OWNER_AND_ADMINS } from "./askers.js";
import { askRoot, askType, fieldsOf, outcomeOf } from "./asking.js";
import { gapsIn } from "./completeness.js";
import { followAsEvents, followOverSocket } from "./following.js";
import { linesOf, type RootLine, type RootLines } from "./lines.js";
import { TABLE } from "./table.js";
import { makeWorld, type World } from "./world.js";

let world: World;
beforeAll(async () => {
  world = await makeWorld();
});
afterAll(() => world.remove());

/** Everybody at once. */
async function askAll<T>(ask: (api: ApiClient) => Promise<T>): Promise<Record<Asker, T>> {
  const found = world.clients.map(async ([asker, api]) => [asker, await ask(api)] as const);
  return Object.fromEntries(await Promise.all(found)) as Record<Asker, T>;
}

const printed: string[][] = [];
function print(element: string, cells: Cells): void {
  printed.push([element, ...ASKERS.map((asker) => cells[asker])]);
}
afterAll(() => {
  if (process.env["PARLEY_PRINT_RIGHTS"] !== "1") return;
  const head = ["element", ...ASKERS];
  const rows = [head, head.map(() => "---"), ...printed];
  process.stdout.write(`${rows.map((row) => `| ${row.join(" | ")} |`).join("\n")}\n`);
});

type Case = { name: string; field: string; line: RootLine };
function casesOf(root: string, lines: RootLines): [string, Case][] {
  return Object.keys(lines).flatMap((field) =>
    linesOf(lines[field]).map((line): [string, Case] => {
      const name = `${root}.${field}${line.when === undefined ? "" : ` (${line.when})`}`;
      return [name, { name, field, line }];
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
    expect(cells).toEqual(cellsOf(kind, asked.line.rule));
  });
});

const AT_ALL_DOORS = new Set(["Query.chat", "Query.users", "Mutation.updateChat", "Mutation.updateUser"]);
const DOORS = [
  ["over a socket", followOverSocket],
  ["as an event stream", followAsEvents],
] as const;
describe.each(DOORS)("%s", (door, follow) => {
  test.each(casesOf("Subscription", TABLE.subscriptions))(
    "%s can only be followed by permitted users",
    async (name, { field, line }) => {
      const question = await line.ask(world, field);
      const cells = await askAll((api) => follow(api, question));
      print(`${name}, ${door}`, cells);
      expect(cells).toEqual(cellsOf("read", line.rule));
    },
  );

  // The gate is one for all doors: one line of each kind shows that this door has it.
  test.each(
    ROOTS.flatMap(([kind, cases]) =>
      cases.filter(([name]) => AT_ALL_DOORS.has(name)).map((it) => [kind, ...it] as const),
    ),
  )("%s %s is for the same people as by single requests", async (kind, _name, { field, line }) => {
    const cells = await askAll(async (api) =>
      follow(api, await line.ask(world, field), (data) => outcomeOf(data[field], line.at ?? "")),
    );
    expect(cells).toEqual(cellsOf(kind, line.rule));
  });
});

const WAYS = Object.entries(TABLE.types).flatMap(([name, line]) =>
  (line.reached ?? []).map((way) => {
    const title = `${name}${way.when === undefined ? "" : ` (${way.when})`}`;
    return [title, { name, line, way }] as const;
  }),
);
test.each(WAYS)(
  "the fields of %s are only accessible to permitted users",
  async (title, { name, line, way }) => {
    const type = schema.getType(name);
    if (!(type instanceof GraphQLObjectType)) throw new Error(`${name} is no object type.`);
    const found = await askAll((api) => askType(api, world, { type, line, way }));
    const cells = fieldsOf(line).map((field) => {
      const of = (asker: Asker) => found[asker][field] ?? "nothing";
      return [field, Object.fromEntries(ASKERS.map((asker) => [asker, of(asker)])) as Cells] as const;
    });
    for (const [field, found] of cells) print(`${name}.${field} (${title})`, found);
    const expected = fieldsOf(line).map((field) => {
      const narrower = way.guarded?.[field] ?? line.guarded?.[field];
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
      line: { rule: EVERYBODY, ask: () => ({ query: "{ __schema { types { name } } }", variables: {} }) },
    }),
  );
  expect(cells).toEqual(cellsOf("read", EVERYBODY));
});
