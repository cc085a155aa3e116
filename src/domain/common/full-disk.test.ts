import { expect, test } from "vitest";
import { isPossibleOnFullDisk } from "./full-disk.js";

test.each([
  [["interruptChat"], true],
  [["interruptChat", "deleteQueuedMessage"], true],
  [["interruptChat", "sendChatMessage"], false],
  [["createFileUpload"], false],
  [["somethingNew"], false],
])("on a full disk %j: %s", (fields, isPossible) => {
  expect(isPossibleOnFullDisk(fields)).toBe(isPossible);
});
