import { expect, test } from "vitest";
import { mcpRules } from "./mcp-rules.js";

const hash = `sha256:${"a1".repeat(32)}`;
const parse = (text: string) =>
  mcpRules.parse(text, { cwd: "/", isDirectory: () => true, dataDir: () => "/data" });

test.each([
  ["", { isEverything: false, hashes: [], hosts: [] }],
  ["*", { isEverything: true, hashes: [], hosts: [] }],
  [
    ` host:MCP.example:443 , ${hash},host:a.example:8443`,
    { isEverything: false, hashes: [hash], hosts: ["mcp.example", "a.example:8443"] },
  ],
  ["mcp.example", undefined],
  ["host:*.example", undefined],
  ["host:https://mcp.example", undefined],
  ["host:me@mcp.example", undefined],
  ["sha256:abc", undefined],
  ["*x", undefined],
])("rules %j", (text, rules) => {
  expect(parse(text)).toEqual(rules);
});
