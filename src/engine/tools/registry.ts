/** Our own tools, and which of them a chat has. A new tool is a file, its prose, and a line here. */
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

/** Sorted by name: the same list in the same order lets vendors cache the prompt that contains it. */
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

/** Whether a chat of which this is known is offered the tool. */
export function isToolOffered(tool: Tool, facts: ToolFacts): boolean {
  return tool.isOffered ? tool.isOffered(facts) : facts.hasWorkspace;
}

/** What a chat's agent may do at all. */
export type AgentPermissions = {
  /** It is only to look. */
  isReadOnly: boolean;
  mayHaveSubagents: boolean;
};

/** Those that a chat's agent may call at all, offered or not. */
export function permittedTools(tools: readonly Tool[], holder: AgentPermissions): readonly Tool[] {
  return tools.filter(({ worksOn, isReadOnly }) =>
    worksOn === "subagents" ? holder.mayHaveSubagents : !holder.isReadOnly || isReadOnly,
  );
}

/** The tool that a model called, or undefined when it made the name up. */
export function findTool(tools: readonly Tool[], name: string): Tool | undefined {
  return tools.find((tool) => tool.name === name);
}
