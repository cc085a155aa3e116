import { expect, test } from "vitest";
import { ByteBudget } from "./byte-budget.js";

test("an owner may reserve up to the limit, and others are not affected", () => {
  const budget = new ByteBudget(100);
  const [one, two, other] = [budget.open("ada"), budget.open("ada"), budget.open("bob")];
  expect([one.resize(60), two.resize(41), two.resize(40), other.resize(100)]).toEqual([
    true,
    false,
    true,
    true,
  ]);
  expect({ used: budget.used("ada"), isFull: two.isFull }).toEqual({ used: 100, isFull: true });
  one.release();
  one.release();
  expect([budget.used("ada"), one.resize(50), budget.used("ada")]).toEqual([40, true, 40]);
});

test("what is larger than the limit fits alone", () => {
  const budget = new ByteBudget(100);
  const [large, small] = [budget.open("ada"), budget.open("ada")];
  expect([large.resize(500), small.resize(1)]).toEqual([true, false]);
  large.release();
  expect(small.resize(1)).toBe(true);
});

test("waiting reservations are admitted in order as bytes are released", async () => {
  const budget = new ByteBudget(100);
  const first = budget.open("ada");
  first.resize(90);
  const order: string[] = [];
  const second = budget.wait("ada", 60).then((reservation) => (order.push("second"), reservation));
  const third = budget.wait("ada", 60).then((reservation) => (order.push("third"), reservation));
  const fourth = budget.wait("ada", 5).then((reservation) => (order.push("fourth"), reservation));
  await Promise.resolve();
  expect(order).toEqual([]);
  first.release();
  const reserved = await second;
  expect({ order, used: budget.used("ada") }).toEqual({ order: ["second"], used: 60 });
  reserved.release();
  for (const reservation of await Promise.all([third, fourth])) reservation.release();
  expect({ order, used: budget.used("ada") }).toEqual({ order: ["second", "third", "fourth"], used: 0 });
});
