// Cache of users' preferences.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { CustomPrompts } from "../../src/services/chats/custom-prompts.js";
import { setPreferences } from "../../src/store/users/users.js";
import { ManualClock } from "../agent/manual-clock.js";
import { insertViewer } from "../support/database/rows.js";
import { World } from "../engine/world.js";

let world: World;
let clock: ManualClock;
let prompts: CustomPrompts;
let userId: string;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());
beforeEach(async () => {
  clock = new ManualClock();
  prompts = new CustomPrompts({ database: world.database, clock });
  userId = (await insertViewer(world.database)).userId;
});

const save = (customPrompt: string) => setPreferences(world.database, userId, { customPrompt });

async function statementsOf(work: () => Promise<unknown>): Promise<number> {
  const before = world.database.counters.statements;
  await work();
  return world.database.counters.statements - before;
}

test("a user's preferences are read once in five seconds, however many turns need them", async () => {
  const ask = () => Promise.all([1, 2, 3].map(() => prompts.customPromptOf(userId)));
  const counts = [await statementsOf(ask), await statementsOf(ask)];
  clock.advance(4_999);
  counts.push(await statementsOf(ask));
  clock.advance(1);
  counts.push(await statementsOf(ask));
  expect(counts).toEqual([1, 0, 0, 1]);
});

test("another replica's change is visible after five seconds, this replica's at once", async () => {
  const seen = [await prompts.customPromptOf(userId)];
  await save("Be brief.");
  seen.push(await prompts.customPromptOf(userId));
  clock.advance(5_000);
  seen.push(await prompts.customPromptOf(userId));
  await save("Be kind.");
  prompts.forget(userId);
  seen.push(await prompts.customPromptOf(userId));
  expect(seen).toEqual(["", "", "Be brief.", "Be kind."]);
});

test("a read from before a change is not cached after it", async () => {
  const reading = prompts.customPromptOf(userId);
  prompts.forget(userId);
  await reading;
  await save("Be brief.");
  expect(await prompts.customPromptOf(userId)).toBe("Be brief.");
});

test("a user who does not exist has no preferences", async () => {
  expect(await prompts.preferencesOf("00000000-0000-4000-8000-000000000000")).toEqual({
    customPrompt: "",
    defaultModelConfigId: null,
  });
});
