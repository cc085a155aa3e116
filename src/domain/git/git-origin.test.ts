import { expect, test } from "vitest";
import { knownKindOf, readGitOrigin, siteOf } from "./git-origin.js";

test.each([
  ["https://github.com/ada/greeter.git", "github.com", "ada/greeter"],
  ["https://GitHub.com/ada/greeter", "github.com", "ada/greeter"],
  ["https://github.com/ada/greeter/", "github.com", "ada/greeter"],
  ["https://ada:secret@github.com/ada/greeter.git", "github.com", "ada/greeter"],
  ["git@github.com:ada/greeter.git", "github.com", "ada/greeter"],
  ["github.com:ada/greeter", "github.com", "ada/greeter"],
  ["git@github.com:/ada/greeter.git", "github.com", "ada/greeter"],
  ["ssh://git@github.com/ada/greeter.git", "github.com", "ada/greeter"],
  ["ssh://git@ssh.github.com:443/ada/greeter.git", "github.com", "ada/greeter"],
  ["git+ssh://git@git.example:2222/ada/greeter", "git.example", "ada/greeter"],
  ["git://git.example/ada/greeter.git", "git.example", "ada/greeter"],
  ["https://gitlab.example:8443/team/tools/greeter.git", "gitlab.example:8443", "team/tools/greeter"],
  ["git@gitlab.com:team/tools/deep/greeter.git", "gitlab.com", "team/tools/deep/greeter"],
  ["http://127.0.0.1:3000/ada/greeter.git", "http://127.0.0.1:3000", "ada/greeter"],
  ["https://git.example/ada/.github.git", "git.example", "ada/.github"],
  ["https://git.example/ada/greeter.js", "git.example", "ada/greeter.js"],
])("%s is at %s, %s", (text, host, path) => {
  expect(readGitOrigin(text)).toEqual({ host, path });
});

test.each([
  "",
  "/srv/git/greeter.git",
  "../greeter.git",
  "./a:b/c",
  "file:///srv/git/ada/greeter.git",
  "ftp://git.example/ada/greeter.git",
  "https://github.com/greeter.git",
  "https://github.com/",
  "https://github.com/ada/../greeter",
  "https://github.com/ada/%2e%2e/x",
  "https://github.com/ada/gree ter",
  "git@github.com:ada/gree?ter",
  "git@github.com:",
  `https://github.com/ada/${"x".repeat(3_000)}`,
])("%j names no project at a host", (text) => {
  expect(readGitOrigin(text)).toBe(null);
});

test("github.com and gitlab.com are known without a request", () => {
  expect(["github.com", "gitlab.com", "git.example"].map(knownKindOf)).toEqual([
    "github",
    "gitlab",
    undefined,
  ]);
});

test("pages use HTTPS unless the host is written with http://", () => {
  expect(["git.example:8443", "http://git.example"].map(siteOf)).toEqual([
    "https://git.example:8443",
    "http://git.example",
  ]);
});
