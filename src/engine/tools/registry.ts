/** Registry of our own tools, and which of them a chat has. A new tool is a file, its description, and a line here. */
import { attachFileTool } from "./files/attach-file.js";
import { createWorkspaceTool } from "./workspaces/create-workspace.js";
import { editFilesTool } from "./files/edit-files.js";
import { executeTool } from "./processes/execute.js";
import { findFilesTool } from "./files/find-files.js";
import { interruptAgentTool } from "./subagents/interrupt-agent.js";
import { listAgentsTool } from "./subagents/list-agents.js";
import { listDirectoryTool } from "./files/list-directory.js";
import { listTemplatesTool } from "./workspaces/list-templates.js";
import { messageAgentTool } from "./subagents/message-agent.js";
import { processListTool } from "./processes/process-list.js";
import { processOutputTool } from "./processes/process-output.js";
import { processSignalTool } from "./processes/process-signal.js";
import { readFileTool } from "./files/read-file.js";
import { readSkillFileTool } from "./skills/read-skill-file.js";
import { readSkillTool } from "./skills/read-skill.js";
import { readTemplateTool } from "./workspaces/read-template.js";
import { searchFilesTool } from "./files/search-files.js";
import { spawnAgentTool } from "./subagents/spawn-agent.js";
import { startWorkspaceTool } from "./workspaces/start-workspace.js";
import { stopWorkspaceTool } from "./workspaces/stop-workspace.js";
import type { Tool, ToolFacts } from "./tool.js";
import { waitAgentTool } from "./subagents/wait-agent.js";
import { writeFileTool } from "./files/write-file.js";

/** Sorted by name: a stable order lets vendors cache the prompt that contains it. */
export const builtInTools: readonly Tool[] = [
  attachFileTool,
  createWorkspaceTool,
  editFilesTool,
  executeTool,
  findFilesTool,
  interruptAgentTool,
  listAgentsTool,
  listDirectoryTool,
  listTemplatesTool,
  messageAgentTool,
  processListTool,
  processOutputTool,
  processSignalTool,
  readFileTool,
  readSkillFileTool,
  readSkillTool,
  readTemplateTool,
  searchFilesTool,
  spawnAgentTool,
  startWorkspaceTool,
  stopWorkspaceTool,
  waitAgentTool,
  writeFileTool,
].sort((a, b) => (a.name < b.name ? -1 : 1));

/** Whether a chat with these facts is offered the tool. */
export function isToolAvailable(tool: Tool, facts: ToolFacts): boolean {
  return tool.isAvailable ? tool.isAvailable(facts) : facts.hasWorkspace;
}

/** Permissions of a chat's agent. */
type AgentPermissions = {
  isReadOnly: boolean;
  mayHaveSubagents: boolean;
};

/** The tools that a chat's agent may call, offered or not. */
export function permittedTools(tools: readonly Tool[], permissions: AgentPermissions): readonly Tool[] {
  return tools.filter(({ worksOn, isReadOnly }) =>
    worksOn === "subagents" ? permissions.mayHaveSubagents : !permissions.isReadOnly || isReadOnly,
  );
}

export function findTool(tools: readonly Tool[], name: string): Tool | undefined {
  return tools.find((tool) => tool.name === name);
}
