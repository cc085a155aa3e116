// The skill tools, called as a model calls them, in a real workspace.
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../../src/domain/common/json.js";
import { builtInTools, isToolAvailable, findTool } from "../../../src/engine/tools/registry.js";
import { ToolError } from "../../../src/engine/tools/tool.js";
import type { AgentConnection } from "../../../src/workspaces/agent-client/agent-connection.js";
import { startTestAgent, type TestAgent } from "../../agent/support.js";
import { noAgents } from "../../support/workspaces/no-agents.js";

let agent: TestAgent;
let directory: string;
beforeAll(async () => {
  agent = await startTestAgent();
  directory = join(agent.folder, ".agents/skills/release");
  await mkdir(join(directory, "references"), { recursive: true });
  await writeFile(join(directory, "SKILL.md"), "---\nname: release\ndescription: Releases.\n---\n# Steps\n");
  await writeFile(join(directory, "references/api.md"), "# API\n");
  await symlink("/etc", join(directory, "outside"));
});
afterAll(() => agent.close());

function call(
  name: string,
  args: JsonObject,
  workspace: () => Promise<AgentConnection> = () => Promise.resolve(agent.connection.forChat("chat-1")),
) {
  const tool = findTool(builtInTools, name);
  if (tool === undefined) throw new Error(`There is no tool ${name}.`);
  const { signal } = new AbortController();
  return tool.run(args, {
    agents: noAgents,
    workspace,
    output: () => undefined,
    idempotencyKey: "call-1",
    signal,
  });
}

test("the model reads a skill, then a file that came with it", async () => {
  expect(await call("read_skill", { name: "release" })).toEqual({
    result: { name: "release", body: "# Steps", dir: directory, files: ["outside/", "references/"] },
    isError: false,
  });
  expect(await call("read_skill_file", { name: "release", path: "references/api.md" })).toEqual({
    result: { content: "# API\n" },
    isError: false,
  });
});

test("a truncated skill is marked for the model", async () => {
  const long = join(agent.folder, ".agents/skills/long");
  await mkdir(long);
  await writeFile(join(long, "SKILL.md"), `---\nname: long\n---\n${"x".repeat(65 * 1024)}`);
  await writeFile(join(long, "more.txt"), "x".repeat(513 * 1024));
  expect(await call("read_skill", { name: "long" })).toMatchObject({ result: { truncated: true } });
  expect(await call("read_skill_file", { name: "long", path: "more.txt" })).toEqual({
    result: { content: "x".repeat(512 * 1024), truncated: true },
    isError: false,
  });
});

test.each([
  ["read_skill", { name: "none" }, 'There is no skill named "none".'],
  [
    "read_skill",
    { name: "../release" },
    "name: A skill's name has small letters, digits and single hyphens.",
  ],
  ["read_skill_file", { name: "release", path: "../../x" }, "without `..` and without hidden names."],
  ["read_skill_file", { name: "release", path: "/etc/passwd" }, "must be relative to the skill's directory"],
  ["read_skill_file", { name: "release", path: "outside/passwd" }, "leads out of"],
  ["read_skill_file", { name: "release", path: "missing" }, "missing does not exist."],
  ["read_skill_file", { name: "release" }, "path"],
])("%s of %j is an error that says why", async (name, args, reason) => {
  expect(await call(name, args)).toEqual({
    result: { error: expect.stringContaining(reason) as string },
    isError: true,
  });
});

test("without a workspace the model learns why", async () => {
  const nowhere = () => Promise.reject(new ToolError("This chat has no workspace."));
  expect(await call("read_skill", { name: "release" }, nowhere)).toEqual({
    result: { error: "This chat has no workspace." },
    isError: true,
  });
});

test("skill tools are available only where there are skills", () => {
  const available = (hasSkills: boolean) =>
    builtInTools
      .filter((tool) => isToolAvailable(tool, { hasWorkspace: true, mayProvision: true, hasSkills }))
      .map(({ name }) => name);
  const others = builtInTools.map(({ name }) => name).filter((name) => !name.startsWith("read_skill"));
  expect({ without: available(false), with: available(true) }).toEqual({
    without: others,
    with: builtInTools.map(({ name }) => name),
  });
});
