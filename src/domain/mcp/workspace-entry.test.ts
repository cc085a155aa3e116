import { describe, expect, test } from "vitest";
import { entryText, isEntryAllowed, type McpPermissions, type WorkspaceMcpEntry } from "./workspace-entry.js";

const program = (more: object = {}): WorkspaceMcpEntry => ({
  ...{ name: "one", transport: "stdio", command: "node", args: ["a.js"], env: { A: "1", B: "2" }, ...more },
});
const remote = (url: string, more: object = {}): WorkspaceMcpEntry => ({
  ...{ name: "one", transport: "http", url, headers: {}, ...more },
});

describe("the text of an entry", () => {
  test("does not depend on the order of variables", () => {
    expect(entryText(program({ env: { B: "2", A: "1" } }))).toBe(entryText(program()));
  });

  test.each([
    ["name", program({ name: "two" })],
    ["command", program({ command: "deno" })],
    ["arguments", program({ args: ["a.js", ""] })],
    ["arguments' borders", program({ args: ["a", ".js"] })],
    ["a variable's value", program({ env: { A: "1", B: "3" } })],
    ["a variable more", program({ env: { A: "1", B: "2", LD_PRELOAD: "./x.so" } })],
    ["where a variable ends", program({ env: { A: '1","B":"2' } })],
    ["kind", remote("node")],
  ])("differs by %s", (_, other) => {
    expect(entryText(other)).not.toBe(entryText(program()));
  });

  test.each([
    ["URL", remote("https://y")],
    ["header", remote("https://x", { headers: { A: "b" } })],
    ["transport", remote("https://x", { transport: "sse" })],
  ])("of a remote server differs by %s", (_, other) => {
    expect(entryText(other)).not.toBe(entryText(remote("https://x")));
  });
});

describe("permissions", () => {
  const rules: McpPermissions = {
    ...{
      revision: 0,
      isEverything: false,
      hashes: ["sha256:1"],
      hosts: ["mcp.example", "mcp.example:8443", "localhost:3000"],
    },
  };

  test.each([
    ["everything", program(), { ...rules, isEverything: true }, "sha256:2", true],
    ["its hash", program(), rules, "sha256:1", true],
    ["another's hash", program(), rules, "sha256:2", false],
  ])("name %s", (_, entry, permissions, hash, isAllowed) => {
    expect(isEntryAllowed(permissions, entry, hash)).toBe(isAllowed);
  });

  test.each([
    ["https://mcp.example/mcp", true],
    ["https://MCP.Example:443/mcp?x=${TOKEN}", true],
    ["https://mcp.example:8443", true],
    ["http://localhost:3000/mcp", true],
    ["http://mcp.example/mcp", false],
    ["https://mcp.example:9443/", false],
    ["https://mcp.example.evil.example/", false],
    ["https://evil.example/https://mcp.example/", false],
    ["https://mcp.example@evil.example/", false],
    ["https://mcp.example\\@evil.example/", false],
    ["https://evil.example\\@mcp.example/", false],
    ["https://${HOST:-mcp.example}/", false],
    ["https://mcp.example${X}/", false],
    ["https://${X}@mcp.example/", false],
    ["https:mcp.example/", false],
    ["https://\tmcp.example/", false],
    ["not a URL", false],
  ])("for a host speak for %s: %s", (url, isAllowed) => {
    expect(isEntryAllowed(rules, remote(url), "sha256:2")).toBe(isAllowed);
  });
});
