import { expect, test } from "vitest";
import { type BrowserHeaders, isFromOwnPage, readReturnTo } from "./own-origin.js";

const OWN = "https://parley.example";

test.each<[string, BrowserHeaders, boolean]>([
  ["a page of ours", { origin: OWN, secFetchSite: "same-origin" }, true],
  ["a page of ours in a browser that tells only the origin", { origin: OWN }, true],
  ["a plain read by a page of ours", { secFetchSite: "same-origin" }, true],
  ["another page", { origin: "https://evil.example", secFetchSite: "cross-site" }, false],
  [
    "another page that a browser believes to be ours",
    { origin: "https://evil.example", secFetchSite: "same-origin" },
    false,
  ],
  ["a page on a sibling", { origin: "https://blog.parley.example", secFetchSite: "same-site" }, false],
  ["our name without encryption", { origin: "http://parley.example" }, false],
  ["our name at another port", { origin: `${OWN}:8443` }, false],
  ["a page without an origin", { origin: "null", secFetchSite: "cross-site" }, false],
  ["a link from another site", { secFetchSite: "none" }, false],
  ["no browser at all", {}, false],
])("a cookie counts when it is sent by %s: %s", (_who, headers, counts) => {
  expect(isFromOwnPage(headers, OWN)).toBe(counts);
});

test.each<[unknown, string]>([
  ["/chats/1?tab=files#end", "/chats/1?tab=files#end"],
  ["/", "/"],
  ["/a/../b", "/b"],
  ["//evil.example", "/home"],
  ["/\\evil.example", "/home"],
  ["/\t/evil.example", "/home"],
  ["https://evil.example/", "/home"],
  ["https://parley.example/chats", "/home"],
  ["javascript:alert(1)", "/home"],
  ["chats", "/home"],
  ["", "/home"],
  [["/a", "/b"], "/home"],
  [undefined, "/home"],
  [`/${"x".repeat(3_000)}`, "/home"],
])("after signing in %j leads to %s", (wanted, path) => {
  expect(readReturnTo(wanted, `${OWN}/`, "/home")).toBe(path);
});
