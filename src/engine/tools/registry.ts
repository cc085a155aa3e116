/** The tools that every chat with a workspace has. A new tool is a file, its prose, and a line here. */
import { editFilesTool } from "./edit-files.js";
import { executeTool } from "./execute.js";
import { findFilesTool } from "./find-files.js";
import { listDirectoryTool } from "./list-directory.js";
import { processListTool } from "./process-list.js";
import { processOutputTool } from "./process-output.js";
import { processSignalTool } from "./process-signal.js";
import { readFileTool } from "./read-file.js";
import { readSkillFileTool } from "./read-skill-file.js";
import { readSkillTool } from "./read-skill.js";
import { searchFilesTool } from "./search-files.js";
import type { Tool } from "./tool.js";
import { writeFileTool } from "./write-file.js";

/** Sorted by name: the same list in the same order lets vendors cache the prompt that contains it. */
export const builtInTools: readonly Tool[] = [
  editFilesTool,
  executeTool,
  findFilesTool,
  listDirectoryTool,
  processListTool,
  processOutputTool,
  processSignalTool,
  readFileTool,
  readSkillFileTool,
  readSkillTool,
  searchFilesTool,
  writeFileTool,
].sort((a, b) => (a.name < b.name ? -1 : 1));

/** The tool that a model called, or undefined when it made the name up. */
export function findTool(tools: readonly Tool[], name: string): Tool | undefined {
  return tools.find((tool) => tool.name === name);
}
