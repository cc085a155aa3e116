import { expect, test } from "vitest";
import { readGitHost } from "./git-host.js";

test.each([
  ["github.com", "github.com"],
  ["  GitHub.COM ", "github.com"],
  ["https://github.com", "github.com"],
  ["HTTPS://github.com/", "github.com"],
  ["https://github.com:443", "github.com"],
  ["git.example:8443", "git.example:8443"],
  ["http://git.example", "http://git.example"],
  ["http://git.example:80", "http://git.example"],
  ["http://127.0.0.1:3000/", "http://127.0.0.1:3000"],
  ["[::1]:3000", "[::1]:3000"],
])("%j is the host %j", (text, host) => {
  expect(readGitHost(text)).toBe(host);
});

test.each([
  "",
  " ",
  "github.com/ada",
  "https://github.com/ada/greeter.git",
  "ada@github.com",
  "https://ada:secret@github.com",
  "git@github.com:ada/greeter.git",
  "ssh://github.com",
  "two words",
  "github.com?x=1",
  "github.com#x",
  "github.com\\@evil.example",
  "a".repeat(300),
])("%j is no host", (text) => {
  expect(readGitHost(text)).toBe(null);
});
