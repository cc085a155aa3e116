/**
 * Makes any history fit for every vendor: no empty text, each tool call followed at once by exactly one result,
 * no call id used twice. Pure, and never throws: a broken history must not make a chat unusable.
 */
import type {
  MessagePart,
  PromptPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from "../../domain/chats/message-parts.js";
import type { PromptMessage } from "../../providers/types.js";

/** What the model reads when a call was never answered (a crash, an interruption, an edit). */
export const MISSING_RESULT_TEXT = "The tool call was interrupted before it had a result.";

/** A message on its way out; an assistant's also holds its local calls, by the id they had in the history. */
type Entry = {
  role: "user" | "assistant";
  parts: PromptPart[];
  calls: Map<string, AnsweredCall>;
  responseId?: string;
};
type AnsweredCall = { call: ToolCallPart; result: ToolResultPart | undefined };

type Repair = {
  entries: Entry[];
  /** The newest call of each id, which is the one a result that follows belongs to. */
  latestCalls: Map<string, AnsweredCall>;
  /** Ids as they leave; each only once. */
  usedIds: Set<string>;
};

/** A message on its way in: with what is for people only. */
export type UnrepairedMessage = Omit<PromptMessage, "parts"> & { parts: MessagePart[] };

/**
 * Returns a repaired copy without notices. Results move right behind their calls, in the order of the calls; a missing one
 * becomes an error; of several, the first counts; one without a call gets a call; what a vendor executed
 * itself is kept only as a whole pair. Ids change only where the same id was used again.
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
  // Before its parts: a result in the same message must find its place after it.
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

/** A vendor may sign text that says nothing, and want the signature back. */
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

/** A result whose call was cut away: the model still learns what happened. */
function addOrphan(repair: Repair, entry: Entry, result: ToolResultPart): void {
  const { toolCallId, toolName } = result;
  const home: Entry = { role: "assistant", parts: [], calls: new Map() };
  addCall(repair, home, { type: "tool-call", toolCallId, toolName, arguments: {} });
  repair.entries.splice(repair.entries.lastIndexOf(entry), 0, home);
  addResult(repair, entry, result);
}

/** Results of vendor-executed calls live beside their calls; older histories kept them in tool messages. */
function reattachProviderResult(repair: Repair, result: ToolResultPart): void {
  const belongs = (part: PromptPart) =>
    part.type === "tool-call" && part.isProviderExecuted === true && part.toolCallId === result.toolCallId;
  const home = repair.entries.findLast(({ parts }) => parts.some(belongs));
  const isAnswered = home?.parts.some(
    (part) => part.type === "tool-result" && part.isProviderExecuted && part.toolCallId === result.toolCallId,
  );
  if (home !== undefined && !isAnswered) home.parts.push(result);
}

function finishEntry({ role, parts, calls, responseId }: Entry): PromptMessage[] {
  const answered = new Set<string>();
  for (const part of parts) {
    if (part.type === "tool-result") answered.add(part.toolCallId);
  }
  const seen = new Set<string>();
  const kept = parts.filter((part) => {
    if (part.type !== "tool-call" || !part.isProviderExecuted) return true;
    const isFirst = !seen.has(part.toolCallId);
    seen.add(part.toolCallId);
    return isFirst && answered.has(part.toolCallId);
  });
  if (kept.every(({ type }) => type === "source")) return [];
  const message = { role, parts: kept, ...(responseId === undefined ? {} : { responseId }) };
  if (calls.size === 0) return [message];
  const results = [...calls.values()].map(({ call, result }) => result ?? missingResult(call));
  return [message, { role: "tool", parts: results }];
}

function missingResult({ toolCallId, toolName }: ToolCallPart): ToolResultPart {
  return { type: "tool-result", toolCallId, toolName, result: { error: MISSING_RESULT_TEXT }, isError: true };
}

/** Vendors want each id once in a whole conversation; some servers number their calls anew in each answer. */
function unusedId(usedIds: Set<string>, id: string): string {
  const base = id === "" ? "call" : id;
  let candidate = base;
  for (let count = 2; usedIds.has(candidate); count++) candidate = `${base}_${count}`;
  usedIds.add(candidate);
  return candidate;
}
