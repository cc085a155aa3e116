import { expect, test } from "vitest";
import { ByteAccounts } from "./byte-accounts.js";

test("an owner has room up to the limit, and others are not affected", () => {
  const accounts = new ByteAccounts(100);
  const [one, two, other] = [accounts.open("ada"), accounts.open("ada"), accounts.open("bob")];
  expect([one.resize(60), two.resize(41), two.resize(40), other.resize(100)]).toEqual([
    true,
    false,
    true,
    true,
  ]);
  expect({ used: accounts.used("ada"), isFull: two.isFull }).toEqual({ used: 100, isFull: true });
  one.release();
  one.release();
  expect([accounts.used("ada"), one.resize(50), accounts.used("ada")]).toEqual([40, true, 40]);
});

test("what is larger than the limit has room alone", () => {
  const accounts = new ByteAccounts(100);
  const [large, small] = [accounts.open("ada"), accounts.open("ada")];
  expect([large.resize(500), small.resize(1)]).toEqual([true, false]);
  large.release();
  expect(small.resize(1)).toBe(true);
});

test("those who wait are let in one after the other as room comes back", async () => {
  const accounts = new ByteAccounts(100);
  const first = accounts.open("ada");
  first.resize(90);
  const order: string[] = [];
  const second = accounts.wait("ada", 60).then((hold) => (order.push("second"), hold));
  const third = accounts.wait("ada", 60).then((hold) => (order.push("third"), hold));
  const fourth = accounts.wait("ada", 5).then((hold) => (order.push("fourth"), hold));
  await Promise.resolve();
  expect(order).toEqual([]);
  first.release();
  const held = await second;
  expect({ order, used: accounts.used("ada") }).toEqual({ order: ["second"], used: 60 });
  held.release();
  for (const hold of await Promise.all([third, fourth])) hold.release();
  expect({ order, used: accounts.used("ada") }).toEqual({ order: ["second", "third", "fourth"], used: 0 });
});
