/**
 * Repairs any history for every vendor: no empty text, each tool call followed directly by exactly one result, unique
 * call ids. Pure, and never throws: a broken history must not make a chat unusable.
 */
import type {
  MessagePart,
  PromptPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from "../../domain/chats/message-parts.js";
import type { PromptMessage } from "../../providers/types.js";

/** Result of a call that was never answered (a crash, an interruption, an edit). */
export const MISSING_RESULT_TEXT = "The tool call was interrupted before it had a result.";

/** A repaired message; `calls` are an assistant's local calls, by their id in the history. */
type Entry = {
  role: "user" | "assistant";
  parts: PromptPart[];
  calls: Map<string, AnsweredCall>;
  responseId?: string;
};
type AnsweredCall = { call: ToolCallPart; result: ToolResultPart | undefined };

type Repair = {
  entries: Entry[];
  /** The newest call of each id, to which the next result with that id belongs. */
  latestCalls: Map<string, AnsweredCall>;
  /** Call ids in the repaired history. */
  usedIds: Set<string>;
};

/** A message of the history, with parts that only users see. */
export type UnrepairedMessage = Omit<PromptMessage, "parts"> & { parts: MessagePart[] };

/**
 * Returns a repaired copy without notices. Results move directly behind their calls, in call order; a missing one becomes
 * an error; of several, the first counts; one without a call gets a call; a vendor-executed call stays only together with
 * its result. Ids change only where the same id was used again.
 */
export function repairPrompt(messages: UnrepairedMessage[]): PromptMessage[] {
  const repair: Repair = { entries: [], latestCalls: new Map(), usedIds: new Set() };
  for (const message of messages) addMessage(repair, message);
  return repair.entries.flatMap(finishEntry);
}

function addMessage(repair: Repair, message: UnrepairedMessage): void {
  const entry: Entry = {
    role: message.role === "assistant" ? "assistant" : "user",
    parts: [],
    calls: new Map(),
    ...(message.responseId === undefined ? {} : { responseId: message.responseId }),
  };
  // Before its parts, so that results in the same message come after it.
  repair.entries.push(entry);
  for (const part of message.parts) {
    switch (part.type) {
      case "text":
        if (message.role !== "tool" && (part.text.trim() !== "" || isSigned(message, part)))
          entry.parts.push(part);
        break;
      case "reasoning":
        if (message.role === "assistant" && (part.text.trim() !== "" || part.providerMetadata))
          entry.parts.push(part);
        break;
      case "source":
      case "file-reference":
      case "file":
        if (message.role !== "tool") entry.parts.push(part);
        break;
      case "tool-call":
        if (message.role === "assistant") addCall(repair, entry, part);
        break;
      case "tool-result":
        addResult(repair, entry, part);
        break;
      case "notice":
        break;
    }
  }
}

/** A vendor may sign empty text, and require the signature back. */
function isSigned(message: UnrepairedMessage, part: TextPart): boolean {
  return message.role === "assistant" && part.providerMetadata !== undefined;
}

function addCall(repair: Repair, entry: Entry, call: ToolCallPart): void {
  if (call.isProviderExecuted) {
    entry.parts.push(call);
    return;
  }
  if (entry.calls.has(call.toolCallId)) return;
  const toolCallId = unusedId(repair.usedIds, call.toolCallId);
  const renamed = toolCallId === call.toolCallId ? call : { ...call, toolCallId };
  const answered: AnsweredCall = { call: renamed, result: undefined };
  entry.parts.push(renamed);
  entry.calls.set(call.toolCallId, answered);
  repair.latestCalls.set(call.toolCallId, answered);
}

function addResult(repair: Repair, entry: Entry, result: ToolResultPart): void {
  if (result.isProviderExecuted) {
    reattachProviderResult(repair, result);
    return;
  }
  const known = repair.latestCalls.get(result.toolCallId);
  if (known === undefined) {
    addOrphan(repair, entry, result);
    return;
  }
  known.result ??= { ...result, toolCallId: known.call.toolCallId };
}

/** Adds a call for a result whose own call is missing: the model still learns what happened. */
function addOrphan(repair: Repair, entry: Entry, result: ToolResultPart): void {
  const { toolCallId, toolName } = result;
  const origin: Entry = { role: "assistant", parts: [], calls: new Map() };
  addCall(repair, origin, { type: "tool-call", toolCallId, toolName, arguments: {} });
  repair.entries.splice(repair.entries.lastIndexOf(entry), 0, origin);
  addResult(repair, entry, result);
}

/** Results of vendor-executed calls belong beside their calls; older histories have them in tool messages. */
function reattachProviderResult(repair: Repair, result: ToolResultPart): void {
  const belongs = (part: PromptPart) =>
    part.type === "tool-call" && part.isProviderExecuted === true && part.toolCallId === result.toolCallId;
  const origin = repair.entries.findLast(({ parts }) => parts.some(belongs));
  const isAnswered = origin?.parts.some(
    (part) => part.type === "tool-result" && part.isProviderExecuted && part.toolCallId === result.toolCallId,
  );
  if (origin !== undefined && !isAnswered) origin.parts.push(result);
}

function finishEntry({ role, parts, calls, responseId }: Entry): PromptMessage[] {
  const answered = new Set<string>();
  for (const part of parts) {
    if (part.type === "tool-result") answered.add(part.toolCallId);
  }
  const seen = new Set<string>();
  const remaining = parts.filter((part) => {
    if (part.type !== "tool-call" || !part.isProviderExecuted) return true;
    const isFirst = !seen.has(part.toolCallId);
    seen.add(part.toolCallId);
    return isFirst && answered.has(part.toolCallId);
  });
  if (remaining.every(({ type }) => type === "source")) return [];
  const message = { role, parts: remaining, ...(responseId === undefined ? {} : { responseId }) };
  if (calls.size === 0) return [message];
  const results = [...calls.values()].map(({ call, result }) => result ?? missingResult(call));
  return [message, { role: "tool", parts: results }];
}

function missingResult({ toolCallId, toolName }: ToolCallPart): ToolResultPart {
  return { type: "tool-result", toolCallId, toolName, result: { error: MISSING_RESULT_TEXT }, isError: true };
}

/** Vendors require unique ids within a conversation; some servers restart their numbering in each answer. */
function unusedId(usedIds: Set<string>, id: string): string {
  const base = id === "" ? "call" : id;
  let candidate = base;
  for (let count = 2; usedIds.has(candidate); count++) candidate = `${base}_${count}`;
  usedIds.add(candidate);
  return candidate;
}
