import { expect, expectTypeOf, test } from "vitest";
import { bindDependencies } from "./bind-dependencies.js";

const add = ({ base }: { base: number }, amount: number) => base + amount;
const greet = async ({ name }: { name: string }, greeting: string) => `${greeting}, ${name}`;

test("bound functions take the rest of their parameters", async () => {
  const bound = bindDependencies({ base: 40, name: "Ada" }, { add, greet });
  expect(Object.keys(bound)).toEqual(["add", "greet"]);
  expect(bound.add(2)).toBe(42);
  expect(await bound.greet("Hello")).toBe("Hello, Ada");
  expectTypeOf(bound.add).toEqualTypeOf<(amount: number) => number>();
  expectTypeOf(bound.greet).toEqualTypeOf<(greeting: string) => Promise<string>>();
});
