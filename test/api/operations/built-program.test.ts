// The server as users get it: a bundle, whose modules may behave otherwise than the compiled ones.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import {
  buildClientSchema,
  getIntrospectionQuery,
  type IntrospectionQuery,
  lexicographicSortSchema,
  printSchema,
} from "graphql";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestEnvironment, type SpawnedParley, type TestEnvironment } from "../../support/parley.js";

const lines: string[] = [];
let environment: TestEnvironment;
let server: SpawnedParley;
beforeAll(async () => {
  environment = await createTestEnvironment();
  server = await environment.spawn({ PARLEY_LOG_LEVEL: "warn" }, (line) => lines.push(line));
});
afterAll(() => environment.remove());

test("its schema is the one in schema.graphql", async () => {
  const introspection = await server.api.get<IntrospectionQuery>(
    getIntrospectionQuery({ specifiedByUrl: true, oneOf: true }),
  );
  const served = buildClientSchema(introspection);
  const written = readFileSync(resolve(import.meta.dirname, "../../../schema.graphql"), "utf8");
  expect(`${printSchema(lexicographicSortSchema(served))}\n`).toBe(written);
});

test("it runs a turn with tools, whose arguments it validates, and warns of nothing", async () => {
  const chatId = await server.api.createChat("run `ls`, then read package.json");
  const follower = server.api.follow(chatId);
  await follower.untilStatus("WAITING");
  await follower.close();
  expect(lines).toEqual([]);
});
