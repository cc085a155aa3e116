// Limits of documents and operations, the same over HTTP and WebSocket.
import { getIntrospectionQuery } from "graphql";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ask, askOverSocket, openServer, type Answer, type TestServer } from "./support.js";

let server: TestServer;
beforeAll(async () => {
  server = await openServer();
});
afterAll(() => server.close());

type Rest = { variables?: Record<string, unknown>; operationName?: string };
const transports: [string, (query: string, rest?: Rest) => Promise<Answer["body"]>][] = [
  ["HTTP", async (query, rest) => (await ask(server, query, rest)).body],
  ["a socket", (query, rest) => askOverSocket(server, query, rest)],
];

const repeat = (count: number, make: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => make(index)).join(" ");
/** `tree { tree { … leaf } }`, so many fields deep. */
const deep = (depth: number): string => (depth <= 1 ? "leaf" : `tree { ${deep(depth - 1)} }`);
const refusal = (code: string, message: unknown) => ({ errors: [{ message, extensions: { code } }] });
const costs = (cost: number) =>
  refusal("QUERY_TOO_COSTLY", `The operation costs ${cost}; at most 5000 is allowed.`);

const tooLarge =
  "The document has more than 1000 fields and fragments, counted once per use; at most 1000 are allowed.";

/** Without locations, which do not matter here. */
const bare = (body: Answer["body"]) => ({
  ...body,
  ...(body.errors && { errors: body.errors.map(({ message, extensions }) => ({ message, extensions })) }),
});

describe.each(transports)("over %s", (_transport, send) => {
  const expectAnswer = async (query: string, expected: unknown, rest: Rest = {}) => {
    expect(bare(await send(query, rest))).toEqual(expected);
  };

  test("a depth of 12 fields is accepted, 13 is not", async () => {
    await expectAnswer(`{ ${deep(12)} }`, { data: { tree: null } });
    await expectAnswer(
      `{ ${deep(13)} }`,
      refusal("QUERY_TOO_COSTLY", "The operation is 13 fields deep; at most 12 are allowed."),
    );
  });

  test("depth is counted through fragments", async () => {
    await expectAnswer(
      `{ tree { ...A } } fragment A on Tree { ... { ${deep(6)} ...B } } fragment B on Tree { ${deep(12)} }`,
      refusal("QUERY_TOO_COSTLY", "The operation is 13 fields deep; at most 12 are allowed."),
    );
  });

  test("cyclic fragments are refused, not expanded", async () => {
    const body = await send(
      "{ tree { ...A } } fragment A on Tree { tree { ...B } } fragment B on Tree { ...A }",
    );
    expect(body.errors?.[0]?.message).toBe('Cannot spread fragment "A" within itself via "B".');
  });

  test("15 aliases are accepted, 16 are not", async () => {
    const aliases = (count: number) => `{ ${repeat(count, (index) => `a${index}: hello`)} }`;
    expect((await send(aliases(15))).errors).toBeUndefined();
    await expectAnswer(
      aliases(16),
      refusal("QUERY_TOO_COSTLY", "The document has 16 aliases; at most 15 are allowed."),
    );
  });

  test("50 directives are accepted, 51 are not", async () => {
    const directives = (count: number) => `{ ${repeat(count, () => "hello @include(if: true)")} }`;
    await expectAnswer(directives(50), { data: { hello: "world" } });
    await expectAnswer(
      directives(51),
      refusal("QUERY_TOO_COSTLY", "The document has 51 directives; at most 50 are allowed."),
    );
  });

  test("2,000 tokens are accepted, 2,001 are not", async () => {
    // 12 tokens besides the ids.
    const ids = (count: number) => `{ nodes(ids: [${repeat(count, () => '"a"')}]) { leaf } }`;
    await expectAnswer(ids(1_988), { data: { nodes: null } });
    await expectAnswer(
      ids(1_989),
      refusal("GRAPHQL_PARSE_FAILED", expect.stringContaining("2000 tokens. Parsing aborted")),
    );
  });

  test("a document of more than 16 KB is not parsed", async () => {
    await expectAnswer(
      `{ hello } # ${"é".repeat(8_192)}`,
      refusal("QUERY_TOO_COSTLY", "The document has 16396 bytes; at most 16384 are allowed."),
    );
  });

  test("a page costs its size times the cost of an item", async () => {
    const page = (size: string) => `{ items${size} { nodes { items(first: 100) { nodes { leaf } } } } }`;
    // 1 + size * (1 node + 1 connection + 100 * 1 node)
    await expectAnswer(page("(last: 49)"), { data: { items: null } });
    await expectAnswer(page("(last: 50)"), costs(5_101));
    await expectAnswer(page(""), { data: { items: null } });
  });

  test("the page size counts when it is a variable", async () => {
    const query = "query ($n: Int) { items(first: $n) { nodes { leaf } } }";
    await expectAnswer(query, { data: { items: null } }, { variables: { n: 4_999 } });
    await expectAnswer(query, costs(5_001), { variables: { n: 5_000 } });
  });

  test("a negative page size does not reduce the cost", async () => {
    const query = `{ items(first: -9999) { nodes { leaf } } a: items(first: 5000) { nodes { leaf } } }`;
    await expectAnswer(query, costs(5_003));
  });

  test("`nodes(ids:)` costs the sum of its nodes", async () => {
    const query = `query ($ids: [ID!]!) { nodes(ids: $ids) { items(first: 100) { nodes { leaf } } } }`;
    await expectAnswer(query, costs(5_051), { variables: { ids: Array(50).fill("x") } });
  });

  test("each call to a workspace costs 25", async () => {
    await expectAnswer("{ items(first: 200) { nodes { diff } } }", costs(5_201));
  });

  test("multiplying fragments are refused before they are expanded", async () => {
    const fragments = repeat(
      14,
      (index) => `fragment F${index} on Tree { ...F${index + 1} ...F${index + 1} }`,
    );
    await expectAnswer(
      `{ tree { ...F0 } } ${fragments} fragment F14 on Tree { leaf }`,
      refusal("QUERY_TOO_COSTLY", tooLarge),
    );
  });

  test("a field without a known cost does not hide the others", async () => {
    const query = 'query ($t: String = "x") { echo(text: $t) items(first: 9999) { nodes { leaf } } }';
    const body = await send(query, { variables: { t: null } });
    expect(body.data).toBeUndefined();
    expect(body.errors?.[0]?.extensions.code).toBe("BAD_USER_INPUT");
  });

  test("a variable of the wrong type is a client error", async () => {
    const body = await send('query ($n: Int) { echo(text: "a", count: $n) }', { variables: { n: "many" } });
    expect(body).toMatchObject({
      errors: [
        {
          message: expect.stringContaining('Variable "$n" got invalid value "many"'),
          extensions: { code: "BAD_USER_INPUT" },
        },
      ],
    });
    expect(body.data).toBeUndefined();
  });

  test.each([
    ["{ hello", undefined, "GRAPHQL_PARSE_FAILED"],
    ["{ helo }", undefined, "GRAPHQL_VALIDATION_FAILED"],
    ["query A { hello } query B { hello }", undefined, "OPERATION_RESOLUTION_FAILURE"],
    ["query A { hello } query B { hello }", "C", "OPERATION_RESOLUTION_FAILURE"],
    ["{ hello }", "C", "OPERATION_RESOLUTION_FAILURE"],
  ])("%j, operation %j, is answered with %s", async (query, operationName, code) => {
    const body = await send(query, { operationName });
    expect(body.errors?.map(({ extensions }) => extensions)).toEqual([{ code }]);
  });

  test("only the chosen operation of a document counts", async () => {
    const query = "query Small { hello } query Big { items(first: 9999) { nodes { leaf } } }";
    await expectAnswer(query, { data: { hello: "world" } }, { operationName: "Small" });
    await expectAnswer(query, costs(10_000), { operationName: "Big" });
  });

  test("standard introspection is within all limits", async () => {
    expect((await send(getIntrospectionQuery())).errors).toBeUndefined();
  });

  test("a document of more than 1,000 fields and fragments is not validated", async () => {
    const many = (count: number) => `{ ${repeat(count, (index) => `field${index}`)} }`;
    expect((await send(many(1_000))).errors?.[0]?.extensions.code).toBe("GRAPHQL_VALIDATION_FAILED");
    await expectAnswer(many(1_001), refusal("QUERY_TOO_COSTLY", tooLarge));
  });

  test("a document whose fields would all be compared with each other is not validated", async () => {
    const hello = (count: number) => `{ ${repeat(count, () => "hello")} }`;
    await expectAnswer(hello(200), { data: { hello: "world" } });
    await expectAnswer(
      hello(201),
      refusal(
        "QUERY_TOO_COSTLY",
        "The document repeats fields so often that 20100 comparisons are needed; at most 20000 are allowed.",
      ),
    );
  });

  test("at most ten errors of a document are reported", async () => {
    const body = await send(`{ ${repeat(40, (index) => `zzzzzzzz${index}`)} }`);
    expect(body.errors?.map(({ message }) => message).slice(9)).toEqual([
      'Cannot query field "zzzzzzzz9" on type "Query".',
      "Too many validation errors, error limit reached. Validation aborted.",
    ]);
  });
});
