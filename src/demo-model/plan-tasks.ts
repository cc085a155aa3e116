/** Reads the few plain sentences that the demo model understands. Pure; what it does not know it leaves out. */
import type { JsonObject } from "../domain/common/json.js";
import { argumentsOf } from "./request.js";

/** One thing to do, with the arguments of the tool that does it. */
export type DemoTask = {
  kind: "run" | "read" | "write" | "replace" | "call";
  toolName: string;
  arguments: JsonObject;
};

/** A message of more requests than this is not a demo. */
const TASK_LIMIT = 50;
/** Longer messages are looked at only so far: the patterns below are not made for novels. */
const READ_CHARACTERS = 20_000;

/** Quoted text is set aside first, so that a `then` or a line break inside it separates nothing. */
type Masked = { text: string; quotes: { raw: string; inner: string }[] };

const QUOTES = /```(?:\w*\n)?([\s\S]*?)```|`([^`]*)`|"([^"]*)"|(?<=^|\s)'([^']*)'(?=$|[\s.,;!?])/g;
const MARK_START = "\uE000";
const MARK_END = "\uE001";
const MARK = /\uE000(\d+)\uE001/g;

const SEPARATORS = new RegExp(
  [
    String.raw`\s*[,;]?\s*\b(?:and\s+)?then\b\s*,?\s*`,
    String.raw`\n+`,
    String.raw`(?<=\S[.!?])\s+(?=[A-Z])`,
    String.raw`\s*,?\s*\band\s+(?=(?:run|execute|read|replace|write|list|call)\b)`,
  ].join("|"),
  "i",
);
const POLITE =
  /^(?:[-*\d.)\s]*)(?:(?:please|now|first|next|finally|also|and|can you|could you|would you|hi|hello|hey)\b[\s,!:]*)*/i;

/** The tasks of a message, in order. */
export function readTasks(message: string): DemoTask[] {
  const withoutMarks = message.slice(0, READ_CHARACTERS).replace(/[\uE000\uE001]/g, "");
  const masked = maskQuotes(withoutMarks.replace(/\[\[demo:[^\]]*\]\]/g, " "));
  return masked.text
    .split(SEPARATORS)
    .map((segment) => readTask(segment.replace(POLITE, "").trim(), masked))
    .filter((task) => task !== undefined)
    .slice(0, TASK_LIMIT);
}

/** The task in words, after "I will". */
export function describeTask({ kind, toolName, arguments: args }: DemoTask): string {
  switch (kind) {
    case "run":
      return `run ${inCode(args.command)}`;
    case "read":
      return `read ${inCode(args.path)}`;
    case "write":
      return `write ${inCode(args.path)}`;
    case "call":
      return `call ${inCode(toolName)}`;
    case "replace":
      return `replace ${inCode(args.old_text)} with ${inCode(args.new_text)} in ${inCode(args.path)}`;
  }
}

function readTask(segment: string, masked: Masked): DemoTask | undefined {
  if (/^list\s+(?:all\s+)?(?:the\s+|my\s+)?files\b/i.test(segment)) return run("ls -la");
  const [, command] = /^(?:run|execute)\s+(?:the\s+)?(?:command\s+)?(\S.*)$/is.exec(segment) ?? [];
  if (command !== undefined) return run(commandOf(command, masked));
  const [, found, replacement, edited] =
    /^replace\s+(.+?)\s+with\s+(.+?)\s+in\s+(\S+)$/is.exec(segment) ?? [];
  if (found !== undefined && replacement !== undefined && edited !== undefined) {
    const [old_text, new_text] = [valueOf(found, masked), valueOf(replacement, masked)];
    return {
      kind: "replace",
      toolName: "edit_files",
      arguments: { path: pathOf(edited, masked), old_text, new_text },
    };
  }
  const [, content, written] =
    /^write\s+(.+)\s+(?:to|into)\s+(?:the\s+)?(?:file\s+)?(\S+)$/is.exec(segment) ?? [];
  if (content !== undefined && written !== undefined) {
    const args = { path: pathOf(written, masked), content: valueOf(content, masked) };
    return { kind: "write", toolName: "write_file", arguments: args };
  }
  const [, tool, given] = /^call\s+(?:the\s+tool\s+)?(\S+)(?:\s+with\s+(\S.*))?$/is.exec(segment) ?? [];
  if (tool !== undefined) return call(valueOf(tool, masked), given && valueOf(given, masked));
  const [, path] = /^read\s+(?:the\s+)?(?:file\s+)?(\S+)$/i.exec(segment) ?? [];
  return path === undefined
    ? undefined
    : { kind: "read", toolName: "read_file", arguments: { path: pathOf(path, masked) } };
}

/** Of any tool on offer, also of those that are not ours. A plain word is no tool, or "call me" would be an order. */
function call(toolName: string, given: string | undefined): DemoTask | undefined {
  if (!/^[\w-]*_[\w-]*$/.test(toolName)) return undefined;
  return { kind: "call", toolName, arguments: argumentsOf(given ?? "") };
}

function run(command: string): DemoTask {
  return { kind: "run", toolName: "execute", arguments: { command } };
}

function maskQuotes(message: string): Masked {
  const quotes: Masked["quotes"] = [];
  const text = message.replace(QUOTES, (raw: string, ...groups: (string | undefined)[]) => {
    const inner = groups.slice(0, 4).find((group) => group !== undefined) ?? "";
    quotes.push({ raw, inner });
    return `${MARK_START}${quotes.length - 1}${MARK_END}`;
  });
  return { text, quotes };
}

/** A command in backticks may be followed by words; any other is the whole rest, its own quotes included. */
function commandOf(text: string, masked: Masked): string {
  const [, leading] = /^\uE000(\d+)\uE001/.exec(text) ?? [];
  const quote = leading === undefined ? undefined : masked.quotes[Number(leading)];
  if (quote?.raw.startsWith("`")) return quote.inner.trim();
  return valueOf(text, masked);
}

/** Without its quotes when it is one quoted text, and without the full stop that ends the sentence. */
function valueOf(text: string, { quotes }: Masked): string {
  const [, only] = /^\uE000(\d+)\uE001[.,;!?]*$/.exec(text) ?? [];
  if (only !== undefined) return quotes[Number(only)]?.inner ?? "";
  const whole = text.replace(MARK, (_, index: string) => quotes[Number(index)]?.raw ?? "");
  // `ls .` and `ls ..` mean their dots.
  return whole.replace(/(?<=[^\s.])[.,;!?]+$/, "");
}

function pathOf(text: string, masked: Masked): string {
  return valueOf(text, masked).replace(/^\.$/, ".");
}

function inCode(value: unknown): string {
  const text = typeof value === "string" ? value : "";
  const shown = text.length <= 200 ? text : `${text.slice(0, 200)}…`;
  return shown.includes("`") ? `\`\` ${shown} \`\`` : `\`${shown}\``;
}
