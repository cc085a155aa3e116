import { expect, test } from "vitest";
import { ageOf, isFor, type Grant } from "./grant.js";

const at = (seconds: number) => new Date(seconds * 1_000);

test.each([
  ["never ends", null, 1e9, "fresh"],
  ["has an hour left", 3_600, 0, "fresh"],
  ["has just more than a minute left", 3_600, 3_539, "fresh"],
  ["has a minute left", 3_600, 3_540, "aging"],
  ["ends now", 3_600, 3_600, "spent"],
  ["ended long ago", 3_600, 9_999, "spent"],
  ["lives for 30 seconds and is 14 seconds old", 30, 14, "fresh"],
  ["lives for 30 seconds and is 15 seconds old", 30, 15, "aging"],
  ["was spent when it came", 0, 0, "spent"],
] as const)("a token that %s is %s of its life", (_name, end, now, expected) => {
  expect(ageOf({ expiresAt: end === null ? null : at(end), since: at(0) }, now * 1_000)).toBe(expected);
});

test.each([
  ["https://tools.example/other", true],
  ["https://tools.example:443/mcp", true],
  ["http://tools.example/mcp", false],
  ["https://tools.example:8443/mcp", false],
  ["https://tools.example.evil.example/mcp", false],
])("a token made for https://tools.example goes to %s: %s", (url, goes) => {
  const grant: Grant = {
    token: "t",
    type: "Bearer",
    origin: "https://tools.example",
    tokenEndpoint: "",
    clientId: "",
  };
  expect(isFor(grant, url)).toBe(goes);
});
