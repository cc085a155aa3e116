import { expect, test } from "vitest";
import { readReturnTo } from "./return-to.js";

const options = { publicUrl: "https://parley.example/p", allowedOrigins: ["http://localhost:3000"] };

test.each([
  ["/chats/1?tab=tools#x", "https://parley.example/chats/1?tab=tools#x"],
  ["/", "https://parley.example/"],
  ["https://parley.example/p/settings", "https://parley.example/p/settings"],
  ["HTTP://LOCALHOST:3000/app", "http://localhost:3000/app"],
])("%s is a valid redirect target", (text, whole) => {
  expect(readReturnTo(text, options)).toBe(whole);
});

test.each([
  "",
  "chats/1",
  "//evil.example",
  "/\\evil.example",
  "\\\\evil.example",
  "/\t/evil.example",
  " /chats",
  "https://evil.example/",
  "https://parley.example.evil.example/",
  "https://parley.example@evil.example/",
  "https://ann:secret@parley.example/",
  "http://parley.example/",
  "https://parley.example:8443/",
  "http://localhost:3001/",
  "javascript:alert(1)",
  "data:text/html,x",
  "https:evil.example",
  "https:/evil.example",
  `/${"x".repeat(2_000)}`,
  "/a\r\nset-cookie: x",
])("%j is no valid redirect target", (text) => {
  expect(readReturnTo(text, options)).toBeNull();
});
