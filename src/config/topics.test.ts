import { expect, test } from "vitest";
import { settingsTable } from "./config.js";
import { describeTopics } from "./topics.js";

test("every setting belongs to exactly one topic", () => {
  const topics = describeTopics();
  const named = topics.flatMap(({ settings }) => settings.map(({ name }) => name));
  expect(named.toSorted()).toEqual(
    Object.values(settingsTable)
      .map(({ name }) => name)
      .toSorted(),
  );
  expect(topics.filter(({ settings }) => settings.length === 0)).toEqual([]);
});
