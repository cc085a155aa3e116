import { expect, test } from "vitest";
import { errorText } from "./error-text.js";

test.each([
  [new Error("words"), "words"],
  ["a text", "a text"],
  [undefined, "undefined"],
  [{ kind: "interrupt" }, "[object Object]"],
  [Object.create(null), "an object without a message"],
  [Symbol("x"), "Symbol(x)"],
])("anything thrown has a text: %#", (thrown, text) => {
  expect(errorText(thrown)).toBe(text);
});
