/**
 * The demo model's built-in behaviour: turns plain sentences of the last user message into calls of the available tools,
 * one after another, and at the end repeats their results. Pure: its only state is the request's history.
 */
import { SUMMARY_INTRODUCTION, SUMMARY_REQUEST } from "../domain/chats/compaction.js";
import type { JsonObject } from "../domain/common/json.js";
import type { ScriptStep } from "./answer.js";
import { type DemoTask, describeTask, readTasks } from "./plan-tasks.js";
import { argumentsOf, type DemoRequest, type DemoTurn, lastUserText, objectOf } from "./request.js";

/** Bound of each tool result in the answer, for the reader's sake. */
const QUOTED_RESULT_CHARACTERS = 2_000;
/** Of each message in a summary. */
const SUMMARY_LINE_CHARACTERS = 200;
const SUMMARY_LINES = 40;
const SUMMARY_END = "(End of the summary.)";
const CONTINUATION = "I have read the summary. Nothing in it is left to do; tell me how to go on.";
const TITLE_WORDS = 6;
const TITLE_CHARACTERS = 60;

export const DEMO_INTRODUCTION = [
  "I am Parley's demo model: a small program without any intelligence, so that everything works before you have an API key.",
  "",
  "I understand a few plain requests and turn them into real tool calls:",
  "",
  "- run `CMD`",
  "- read FILE",
  "- write `TEXT` to FILE",
  "- replace `A` with `B` in FILE",
  "- list the files",
  "- call TOOL with `{…}`",
  "",
  'Join several with "then", for example: run `ls`, then read package.json',
  "",
  "To talk to a real model, give the server a key: set `ANTHROPIC_API_KEY`, `OPENAI_API_KEY` or `GEMINI_API_KEY` where it starts, or add a provider and its key in the settings.",
].join("\n");

/** What to answer to a request. */
export function planAnswer(request: DemoRequest): ScriptStep {
  if (isTitleRequest(request)) return proposeTitle(request);
  if (isSummaryRequest(request)) return { text: summarize(request) };
  if (request.tools.length === 0) return answerWithoutTools(request);
  const { said, isSummarized } = afterSummary(lastUserText(request));
  const tasks = readTasks(said);
  if (tasks.length === 0) return { text: isSummarized ? CONTINUATION : DEMO_INTRODUCTION };
  const done = stepsDone(request.turns);
  const failed = done.some(({ isError }) => isError);
  const next = tasks[done.length];
  if (next === undefined || failed) return { text: report(tasks, done) };
  if (!request.tools.some(({ name }) => name === next.toolName)) {
    const missing = `I would ${describeTask(next)}, but this chat offers me no tool named \`${next.toolName}\`.`;
    return { text: done.length === 0 ? missing : `${report(tasks, done)}\n\n${missing}` };
  }
  const text = `${done.length === 0 ? "I will" : "Next I will"} ${describeTask(next)}.`;
  return { text, toolCalls: [{ name: next.toolName, arguments: shapeArguments(next, request) }] };
}

/** Whether the conversation is only to be named. */
export function isTitleRequest({ tools }: Pick<DemoRequest, "tools">): boolean {
  return tools.some(({ name }) => name === "propose_title");
}

/** Whether the conversation is to be summarised. */
export function isSummaryRequest(request: Pick<DemoRequest, "turns">): boolean {
  return lastUserText(request).includes(SUMMARY_REQUEST);
}

/** What the user said after a summary of this model; everything when there is none. */
function afterSummary(text: string): { said: string; isSummarized: boolean } {
  if (!text.includes(SUMMARY_INTRODUCTION)) return { said: text, isSummarized: false };
  return { said: text.split(SUMMARY_END).at(-1) ?? "", isSummarized: true };
}

/** A title of a few words, made from the conversation's first words; never empty. */
export function makeTitle(text: string): string {
  const words = text
    .replace(/\[\[.*?\]\]/gs, " ")
    .replace(/[`"'*#_\n.,;:!?()[\]{}]+/g, " ")
    .trim()
    .split(/\s+/)
    .filter((word) => word !== "")
    .slice(0, TITLE_WORDS);
  if (words.length === 0) return "New conversation";
  if (words.length === 1) words.unshift("About");
  const title = words.join(" ").slice(0, TITLE_CHARACTERS);
  return title.charAt(0).toUpperCase() + title.slice(1);
}

type StepDone = { toolName: string; text: string; isError: boolean };

/** The tool calls since the last user message that have their results, in order. */
function stepsDone(turns: DemoTurn[]): StepDone[] {
  const lastUser = turns.findLastIndex(({ role }) => role === "user");
  const recent = turns.slice(lastUser + 1);
  const results = new Map(
    recent
      .flatMap((turn) => (turn.role === "results" ? turn.results : []))
      .map((result) => [result.id, result]),
  );
  return recent
    .flatMap((turn) => (turn.role === "assistant" ? turn.calls : []))
    .flatMap(({ id, name }) => {
      const result = results.get(id);
      return result === undefined ? [] : [{ toolName: name, text: result.text, isError: result.isError }];
    });
}

function report(tasks: DemoTask[], done: StepDone[]): string {
  const failed = done.at(-1)?.isError === true;
  const left = tasks.length - done.length;
  const opening = failed ? "The last tool call failed, so I stop here." : "Done.";
  const steps = done.map(({ toolName, text }, index) => {
    const task = tasks[index];
    const what = task === undefined ? "" : ` (${describeTask(task)})`;
    return `${index + 1}. \`${toolName}\`${what} answered:\n\n${quote(readable(text))}`;
  });
  const closing =
    failed && left > 0 ? [`Not done: ${tasks.slice(done.length).map(describeTask).join(", then ")}.`] : [];
  return [opening, ...steps, ...closing].join("\n\n");
}

/** Tools answer in JSON; shows the output itself, and what is special about it. */
function readable(text: string): string {
  const { output, content, error, exit_code: exitCode, ...rest } = argumentsOf(text);
  const main = [output, content, error].find((value) => typeof value === "string");
  if (typeof main === "string") {
    return typeof exitCode === "number" && exitCode !== 0 ? `${main}\n(exit code ${exitCode})` : main;
  }
  return Object.keys(rest).length > 0 ? JSON.stringify(argumentsOf(text), undefined, 2) : text;
}

function quote(text: string): string {
  const shown =
    text.length <= QUOTED_RESULT_CHARACTERS
      ? text
      : `${text.slice(0, QUOTED_RESULT_CHARACTERS)}\n… (${text.length - QUOTED_RESULT_CHARACTERS} more characters)`;
  const longestRun = Math.max(2, ...(shown.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longestRun + 1);
  return `${fence}\n${shown}\n${fence}`;
}

/** An edit tool may want one flat list of edits, or edits grouped by file: its own schema says which. */
function shapeArguments(task: DemoTask, { tools }: DemoRequest): JsonObject {
  if (task.kind !== "replace") return task.arguments;
  const schema = tools.find(({ name }) => name === task.toolName)?.inputSchema;
  const { path, old_text, new_text } = task.arguments;
  if ("files" in objectOf(schema?.properties)) {
    return { files: [{ path: path ?? "", edits: [{ old_text: old_text ?? "", new_text: new_text ?? "" }] }] };
  }
  return { edits: [task.arguments] };
}

function proposeTitle(request: DemoRequest): ScriptStep {
  const title = makeTitle(quotedSubject(firstUserText(request)));
  return { toolCalls: [{ name: "propose_title", arguments: { title } }] };
}

/** What the title is for: a quoted message, the first user message of a quoted conversation, or the whole text. */
function quotedSubject(text: string): string {
  const [, message] = /<message>\n([\s\S]*)\n<\/message>/.exec(text) ?? [];
  const [, said] = /<conversation>\n\[user\]: (.*)/.exec(text) ?? [];
  return message ?? said ?? text;
}

/** Titles and summaries are asked for without tools, in words. */
function answerWithoutTools(request: DemoRequest): ScriptStep {
  const asked = lastUserText(request);
  if (/\bsummar/i.test(asked)) return { text: summarize(request) };
  if (/\btitle\b/i.test(request.system) || /\btitle\b/i.test(asked))
    return { text: makeTitle(firstUserText(request)) };
  if (/\bsummar/i.test(request.system)) return { text: makeTitle(asked) };
  return { text: DEMO_INTRODUCTION };
}

function firstUserText({ turns }: DemoRequest): string {
  const turn = turns.find(({ role }) => role === "user");
  return turn?.role === "user" ? turn.text : "";
}

/** No understanding, but an honest list of what was said, without the request for the summary itself. */
function summarize({ turns }: DemoRequest): string {
  const lines = turns
    .slice(0, -1)
    .flatMap((turn) => {
      if (turn.role === "results") return [];
      const calls = turn.role === "assistant" ? turn.calls.map(({ name }) => `called ${name}`) : [];
      // A summary must not repeat directives that were already carried out.
      const text = turn.text
        .replace(/\[\[.*?\]\]/gs, " ")
        .replace(/[\s`]+/g, " ")
        .trim()
        .slice(0, SUMMARY_LINE_CHARACTERS);
      return [text, ...calls].filter((line) => line !== "").map((line) => `- ${turn.role}: ${line}`);
    })
    .slice(-SUMMARY_LINES);
  return ["Summary by the demo model, which only repeats what was said:", ...lines, SUMMARY_END].join("\n");
}
