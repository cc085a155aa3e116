/** Our own tools, and which of them a chat has. A new tool is a file, its prose, and a line here. */
import { attachFileTool } from "./attach-file.js";
import { createWorkspaceTool } from "./create-workspace.js";
import { editFilesTool } from "./edit-files.js";
import { executeTool } from "./execute.js";
import { findFilesTool } from "./find-files.js";
import { interruptAgentTool } from "./interrupt-agent.js";
import { listAgentsTool } from "./list-agents.js";
import { listDirectoryTool } from "./list-directory.js";
import { listTemplatesTool } from "./list-templates.js";
import { messageAgentTool } from "./message-agent.js";
import { processListTool } from "./process-list.js";
import { processOutputTool } from "./process-output.js";
import { processSignalTool } from "./process-signal.js";
import { readFileTool } from "./read-file.js";
import { readSkillFileTool } from "./read-skill-file.js";
import { readSkillTool } from "./read-skill.js";
import { readTemplateTool } from "./read-template.js";
import { searchFilesTool } from "./search-files.js";
import { spawnAgentTool } from "./spawn-agent.js";
import { startWorkspaceTool } from "./start-workspace.js";
import { stopWorkspaceTool } from "./stop-workspace.js";
import type { Tool, ToolFacts } from "./tool.js";
import { waitAgentTool } from "./wait-agent.js";
import { writeFileTool } from "./write-file.js";

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
export type ToolHolder = {
  /** It is only to look. */
  isReadOnly: boolean;
  mayHaveSubagents: boolean;
};

/** Those that a chat's agent may call at all, offered or not. */
export function permittedTools(tools: readonly Tool[], holder: ToolHolder): readonly Tool[] {
  return tools.filter(({ worksOn, isReadOnly }) =>
    worksOn === "subagents" ? holder.mayHaveSubagents : !holder.isReadOnly || isReadOnly,
  );
}

/** The tool that a model called, or undefined when it made the name up. */
export function findTool(tools: readonly Tool[], name: string): Tool | undefined {
  return tools.find((tool) => tool.name === name);
}
