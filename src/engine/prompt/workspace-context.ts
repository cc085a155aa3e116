/** System prompt text about a workspace: its instruction files and skills. Pure. */
import { promptBlock, sanitizePrompt } from "./sanitize.js";

/** As found by the workspace's agent. `isTruncated`: `content` has only the first 64 KiB. */
export type WorkspaceContext = {
  operatingSystem: string;
  workingDirectory: string;
  instructionFiles: readonly { path: string; content: string; isTruncated: boolean }[];
  skills: readonly { name: string; description: string; directory: string }[];
};

const INSTRUCTIONS = `The following instruction files belong to the user or to the workspace. Follow them; where they differ a later one wins, and what the user says in the chat wins over all of them.`;

const SKILLS = `Skills are instructions for particular tasks. When a task matches one, call read_skill with its name before you begin, and follow what it says. read_skill_file reads the files that come with it.`;

/** Context and skills together, for `systemPrompt`; empty without a context. */
export function workspacePrompt(context: WorkspaceContext | null): string {
  if (context === null) return "";
  const known = texts.get(context);
  if (known !== undefined) return known;
  const text = [workspaceContextText(context), skillsIndexText(context.skills)]
    .filter((block) => block !== "")
    .join("\n\n");
  texts.set(context, text);
  return text;
}

/** A context is used by many turns, and its files may be long. */
const texts = new WeakMap<WorkspaceContext, string>();

/** The `<workspace-context>` block. */
export function workspaceContextText(context: WorkspaceContext): string {
  const files = context.instructionFiles.map(({ path, content, isTruncated }) => {
    const remark = isTruncated ? " (truncated to 64 KiB)" : "";
    return `Source: ${oneLine(path)}${remark}\n\n${sanitizePrompt(content)}`;
  });
  const location = [
    `Operating system: ${oneLine(context.operatingSystem)}`,
    `Working directory: ${oneLine(context.workingDirectory)}`,
  ].join("\n");
  const instructions = files.length === 0 ? [] : [INSTRUCTIONS, ...files];
  return promptBlock("workspace-context", [location, ...instructions].join("\n\n"));
}

/** The `<available-skills>` block; empty when there are none. */
export function skillsIndexText(skills: WorkspaceContext["skills"]): string {
  if (skills.length === 0) return "";
  const lines = skills.map(({ name, description }) => {
    const what = oneLine(description);
    return what === "" ? `- ${name}` : `- ${name}: ${what}`;
  });
  return promptBlock("available-skills", [SKILLS, "", ...lines].join("\n"));
}

function oneLine(text: string): string {
  return sanitizePrompt(text).replace(/\s+/g, " ");
}
