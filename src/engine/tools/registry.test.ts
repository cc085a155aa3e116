import { expect, test } from "vitest";
import { builtInTools, isToolAvailable, permittedTools } from "./registry.js";

const permissions = { isReadOnly: false, mayHaveSubagents: true };
const facts = { hasWorkspace: true, mayProvision: true, hasSkills: true };
const AGENT_TOOLS = ["interrupt_agent", "list_agents", "message_agent", "spawn_agent", "wait_agent"];
const LOOKING = [
  ...["find_files", "list_directory", "read_file", "read_skill", "read_skill_file", "search_files"],
];
const availableTools = (changes: Partial<typeof permissions & typeof facts>) =>
  permittedTools(builtInTools, { ...permissions, ...changes })
    .filter((tool) => isToolAvailable(tool, { ...facts, ...changes }))
    .map(({ name }) => name);

test("a user's chat with a workspace has every tool", () => {
  expect(availableTools({})).toEqual(builtInTools.map(({ name }) => name));
});

test("without a workspace there are still subagents, where there may be some", () => {
  const nowhere = { hasWorkspace: false, mayProvision: false, hasSkills: false };
  expect(availableTools(nowhere)).toEqual(AGENT_TOOLS);
  expect(availableTools({ ...nowhere, mayHaveSubagents: false })).toEqual([]);
});

test("a read-only agent has tools that change nothing, and may call no others", () => {
  const explorer = { isReadOnly: true, mayHaveSubagents: false };
  expect(availableTools(explorer)).toEqual(LOOKING);
  expect(permittedTools(builtInTools, { ...permissions, ...explorer }).map(({ name }) => name)).toEqual(
    LOOKING,
  );
});

test("there are no subagent tools where there may be no subagents", () => {
  const names = permittedTools(builtInTools, { ...permissions, mayHaveSubagents: false }).map(
    ({ name }) => name,
  );
  expect(names).toEqual(builtInTools.map(({ name }) => name).filter((name) => !AGENT_TOOLS.includes(name)));
});
