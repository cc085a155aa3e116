import { expect, test } from "vitest";
import type { Tool } from "../tools/tool.js";
import { externalTools, omittedToolsText, MAX_EXTERNAL_TOOLS, type ServerTool } from "./external-tools.js";

const tool = (name: string): Tool => ({
  ...{ name, description: "", inputSchema: {}, run: () => Promise.reject(new Error("not here")) },
});
const ofServer = (name: string): ServerTool => ({ ...tool(name), serverId: "one" });
const names = (tools: readonly Tool[]) => tools.map(({ name }) => name);
const many = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(3, "0")}`);

test("servers' tools are sorted by sanitized name; the workspace's keep their order", () => {
  const { servers, workspace, omitted } = externalTools(
    ["b__x", "a__y", "a__ü"].map(ofServer),
    ["w2", "w1"].map(tool),
    [],
  );
  expect([names(servers), names(workspace), omitted]).toEqual([["a___", "a__y", "b__x"], ["w2", "w1"], []]);
});

test("names of ours and the client's are reserved: a server's tool is renamed, a workspace's is dropped", () => {
  const { servers, workspace } = externalTools(
    [ofServer("a__x")],
    [tool("execute"), tool("w")],
    ["a__x", "execute"],
  );
  expect(names(servers)).toEqual([expect.stringMatching(/^a__x_[0-9a-f]{8}$/)]);
  expect(names(workspace)).toEqual(["w"]);
});

test.each([
  ["nothing is omitted up to the limit", 40, 50, 40, 50, 0],
  ["the workspace's go first", 40, 51, 40, 50, 1],
  ["then the last of the servers'", MAX_EXTERNAL_TOOLS + 2, 3, MAX_EXTERNAL_TOOLS, 0, 5],
])("%s", (_name, ofServers, ofWorkspace, servers, workspace, omitted) => {
  const shown = externalTools(many("s__", ofServers).map(ofServer), many("w", ofWorkspace).map(tool), []);
  expect([shown.servers.length, shown.workspace.length, shown.omitted.length]).toEqual([
    servers,
    workspace,
    omitted,
  ]);
});

test("a notice names the first few omitted tools", () => {
  expect(omittedToolsText(["a", "b"])).toBe(
    "A model is offered at most 90 tools of MCP servers. Not offered: a, b.",
  );
  expect(omittedToolsText(many("t", 7))).toMatch(/: t000, t001, t002, t003, t004, and 2 more\.$/);
});
