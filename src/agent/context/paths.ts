/** Search paths for instruction files, skills and MCP configuration: five settings, resolved for each request. Pure. */
import { join, resolve } from "node:path";

/** As configured: paths may begin with `~` or be relative to the working directory. */
export type ContextPaths = {
  /** Searched for an instruction file before the working directory, which always comes last. */
  instructionDirectories: readonly string[];
  /** Name of the instruction file, matched in any case. */
  instructionFile: string;
  /** Directories with one folder for each skill. */
  skillDirectories: readonly string[];
  /** Name of the file that makes a folder a skill. */
  skillFile: string;
  /** Files that configure the workspace's own MCP servers. */
  mcpConfigFiles: readonly string[];
};

export const DEFAULT_CONTEXT_PATHS: ContextPaths = {
  instructionDirectories: ["~/.parley"],
  instructionFile: "AGENTS.md",
  skillDirectories: [".agents/skills"],
  skillFile: "SKILL.md",
  mcpConfigFiles: [".mcp.json"],
};

export type BaseDirectories = { workingDirectory: string; homeDirectory: string };

/** Absolute paths, each once, in the order of the setting. */
export function resolvePaths(paths: readonly string[], base: BaseDirectories): string[] {
  return [...new Set(paths.map((path) => resolvePath(path, base)))];
}

function resolvePath(path: string, { workingDirectory, homeDirectory }: BaseDirectories): string {
  if (path === "~" || path.startsWith("~/")) return resolve(join(homeDirectory, path.slice(1)));
  return resolve(workingDirectory, path);
}
