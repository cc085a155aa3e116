/** Reader of Gemini's stream. */
import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import {
  FinishReason as GoogleFinish,
  type Candidate,
  type FunctionCall,
  type GenerateContentResponse,
  type GenerateContentResponseUsageMetadata,
  type Part,
} from "@google/genai";
import type { JsonObject } from "../../domain/common/json.js";
import type { FinishReason } from "../../domain/chats/finish-reasons.js";
import { AnswerCallIds } from "../common/call-ids.js";
import { StreamFailure } from "../common/errors.js";
import type { EventReader } from "../common/model-call.js";
import { isJsonObject } from "../common/prompt-parts.js";
import type { ModelStreamPart } from "../types.js";
import { NO_COUNTS, type TokenCounts, UsageReport } from "../common/usage-report.js";

type CallState = {
  model: string;
  /** Characters of the open thought; undefined = there is none. */
  thoughtLength: number | undefined;
  /** Characters of the open text; undefined = there is none. */
  textLength: number | undefined;
  ids: AnswerCallIds;
  hasCalls: boolean;
  /** Pending calls of the vendor's own tools (searches), by the vendor's id or a generated one. */
  providerCalls: string[];
  sources: Map<string, ModelStreamPart>;
  usage: UsageReport;
  /** The totals so far. */
  counts: TokenCounts;
  finish: FinishReason | undefined;
};

/** A reader for one call of `model`. Usage may come after the finish reason, so `finish` waits for the end. */
export function createGoogleReader(model: string): EventReader<GenerateContentResponse> {
  const state: CallState = {
    model,
    thoughtLength: undefined,
    textLength: undefined,
    ids: new AnswerCallIds(),
    hasCalls: false,
    providerCalls: [],
    sources: new Map(),
    usage: new UsageReport(),
    counts: NO_COUNTS,
    finish: undefined,
  };
  return {
    read: (response) => readResponse(state, response),
    isFinished: () => state.finish !== undefined,
    end: () => endAnswer(state),
  };
}

function readResponse(state: CallState, response: GenerateContentResponse): ModelStreamPart[] {
  const { promptFeedback, candidates, usageMetadata } = response;
  if (promptFeedback?.blockReason)
    throw new StreamFailure("content_filter", `the prompt was blocked: ${promptFeedback.blockReason}`);
  // One answer is requested; further ones of a gateway are ignored.
  const candidate = candidates?.find(({ index }) => (index ?? 0) === 0);
  const parts = (candidate?.content?.parts ?? []).flatMap((part) => readPart(state, part));
  if (candidate) {
    collectSources(state, candidate);
    if (candidate.finishReason) state.finish = finishReason(candidate, state.hasCalls);
  }
  return [...parts, ...readUsage(state, usageMetadata)];
}

function readPart(state: CallState, part: Part): ModelStreamPart[] {
  if (part.functionCall) return [...closeParts(state), readCall(state, part.functionCall, part)];
  if (part.toolCall || part.toolResponse) return [...closeParts(state), ...readProviderPart(state, part)];
  if (part.thought === true) return readThought(state, part);
  if (typeof part.text === "string") return readText(state, part.text, part.thoughtSignature);
  // A part of another kind; its signature is stored all the same.
  return part.thoughtSignature ? readText(state, "", part.thoughtSignature) : [];
}

/**
 * Deltas of a thought or text are joined, but the signature belongs to the last delta alone, which is often empty:
 * `signedFrom` is its start.
 */
function readThought(state: CallState, { text = "", thoughtSignature }: Part): ModelStreamPart[] {
  state.textLength = undefined;
  const signedFrom = state.thoughtLength ?? 0;
  if (text !== "") state.thoughtLength = signedFrom + text.length;
  const parts: ModelStreamPart[] = text === "" ? [] : [{ type: "reasoning-delta", text }];
  if (!thoughtSignature) return parts;
  state.thoughtLength = undefined;
  const providerMetadata = metadata(state, { thoughtSignature, signedFrom });
  return [...parts, { type: "reasoning-end", providerMetadata }];
}

/** A signature without any text becomes a reasoning part without text. */
function readText(state: CallState, text: string, thoughtSignature: string | undefined): ModelStreamPart[] {
  const parts: ModelStreamPart[] = [];
  if (text !== "") parts.push(...closeReasoning(state), { type: "text-delta", text });
  const signedFrom = state.textLength ?? 0;
  if (text !== "") state.textLength = signedFrom + text.length;
  if (!thoughtSignature) return parts;
  if (state.textLength === undefined) {
    const providerMetadata = metadata(state, { thoughtSignature, isText: true });
    return [...closeReasoning(state), { type: "reasoning-end", providerMetadata }];
  }
  state.textLength = undefined;
  return [
    ...parts,
    { type: "text-end", providerMetadata: metadata(state, { thoughtSignature, signedFrom }) },
  ];
}

function readCall(state: CallState, call: FunctionCall, { thoughtSignature }: Part): ModelStreamPart {
  state.hasCalls = true;
  // Older models give no ids.
  const toolCallId = state.ids.take(call.id);
  return {
    type: "tool-call",
    toolCallId,
    toolName: call.name ?? "",
    arguments: isJsonObject(call.args) ? call.args : {},
    ...(thoughtSignature ? { providerMetadata: metadata(state, { thoughtSignature }) } : {}),
  };
}

/** Call and result both store the vendor's part unchanged, including its signature. */
function readProviderPart(state: CallState, part: Part): ModelStreamPart[] {
  const { toolCall, toolResponse } = part;
  const toolName = providerToolName(toolCall?.toolType ?? toolResponse?.toolType);
  const providerMetadata = metadata(state, { part: part as JsonObject });
  if (toolCall) {
    const toolCallId = toolCall.id ?? `search_${randomUUID()}`;
    state.providerCalls.push(toolCallId);
    const args = searchArguments(toolCall.args);
    return [
      {
        type: "tool-call",
        toolCallId,
        toolName,
        arguments: args,
        isProviderExecuted: true,
        providerMetadata,
      },
    ];
  }
  const toolCallId = toolResponse?.id ?? state.providerCalls[0];
  if (toolCallId === undefined) return [];
  state.providerCalls = state.providerCalls.filter((id) => id !== toolCallId);
  const response = toolResponse?.response;
  return [
    {
      type: "tool-result",
      toolCallId,
      toolName,
      result: isJsonObject(response) ? response : {},
      isError: isJsonObject(response) && "error" in response,
      isProviderExecuted: true,
      providerMetadata,
    },
  ];
}

/** Searches have the same name for all vendors. */
function providerToolName(toolType: string | undefined): string {
  return toolType === "GOOGLE_SEARCH_WEB" || toolType === undefined ? "web_search" : toolType.toLowerCase();
}

/** A single query has the form of other vendors. */
function searchArguments(args: unknown): JsonObject {
  if (!isJsonObject(args)) return {};
  const { queries } = args;
  const [query] = Array.isArray(queries) && queries.length === 1 ? queries : [];
  return typeof query === "string" ? { query } : args;
}

function metadata({ model }: CallState, fields: JsonObject): JsonObject {
  return { google: { ...fields, model } };
}

function closeReasoning(state: CallState): ModelStreamPart[] {
  if (state.thoughtLength === undefined) return [];
  state.thoughtLength = undefined;
  return [{ type: "reasoning-end" }];
}

/** Text is closed by any next part; thoughts need a `reasoning-end`. */
function closeParts(state: CallState): ModelStreamPart[] {
  state.textLength = undefined;
  return closeReasoning(state);
}

/** Sources are sent at the end: earlier they would split the text that cites them. */
function collectSources({ sources }: CallState, { groundingMetadata, citationMetadata }: Candidate): void {
  const cited = [
    ...(groundingMetadata?.groundingChunks ?? []).map(
      ({ web, maps, retrievedContext }) => web ?? maps ?? retrievedContext,
    ),
    ...(citationMetadata?.citations ?? []),
  ];
  for (const page of cited) {
    if (!page?.uri || sources.has(page.uri)) continue;
    const { uri: url, title } = page;
    sources.set(url, { type: "source", url, ...(title ? { title } : {}) });
  }
}

/** Counts arrive repeatedly, perhaps incomplete; fields that a later report omits keep their value. */
function readUsage(
  state: CallState,
  usage: GenerateContentResponseUsageMetadata | undefined,
): ModelStreamPart[] {
  if (!usage) return [];
  const { usage: report, counts: known } = state;
  const prompt = report.count("promptTokenCount", usage.promptTokenCount);
  const answer = report.count("candidatesTokenCount", usage.candidatesTokenCount);
  const thoughts = report.count("thoughtsTokenCount", usage.thoughtsTokenCount);
  const cached = report.count("cachedContentTokenCount", usage.cachedContentTokenCount);
  // Input of the vendor's tools is counted separately from the prompt.
  const tools = report.count("toolUsePromptTokenCount", usage.toolUsePromptTokenCount) ?? 0;
  const cacheRead = cached ?? known.cacheReadTokens ?? 0;
  const reasoningTokens = thoughts ?? known.reasoningTokens ?? 0;
  const knownAnswer =
    known.outputTokens === undefined ? undefined : known.outputTokens - (known.reasoningTokens ?? 0);
  // There may be only thoughts so far; without prompt and thoughts, nothing was reported.
  const answerTokens =
    answer ?? knownAnswer ?? (prompt === undefined && thoughts === undefined ? undefined : 0);
  const counts: TokenCounts = {
    ...(prompt === undefined
      ? { inputTokens: known.inputTokens, cacheReadTokens: cacheRead, cacheWriteTokens: 0 }
      : report.uncached(prompt + tools, cacheRead)),
    outputTokens: answerTokens === undefined ? undefined : answerTokens + reasoningTokens,
    reasoningTokens,
  };
  if (counts.inputTokens === undefined && answerTokens === undefined) return [];
  // Each event of the stream repeats the counts.
  if (isDeepStrictEqual(known, counts)) return [];
  state.counts = counts;
  return [report.part(counts)];
}

function endAnswer(state: CallState): ModelStreamPart[] {
  if (state.finish === undefined) return [];
  return [...closeParts(state), ...state.sources.values(), { type: "finish", reason: state.finish }];
}

/** Reasons that the SDK's list does not have yet, but the service does. */
const MALFORMED_RESPONSE = "MALFORMED_RESPONSE";
const MISSING_SIGNATURE = "MISSING_THOUGHT_SIGNATURE";

/** Throws for malformed answers, which are worth a retry. */
function finishReason({ finishReason: vendorReason }: Candidate, hasCalls: boolean): FinishReason {
  const reason: string = vendorReason ?? GoogleFinish.OTHER;
  switch (reason) {
    case GoogleFinish.STOP:
      return hasCalls ? "tool-calls" : "stop";
    case GoogleFinish.MAX_TOKENS:
    case GoogleFinish.CONTINUATION:
      return "length";
    case GoogleFinish.SAFETY:
    case GoogleFinish.RECITATION:
    case GoogleFinish.BLOCKLIST:
    case GoogleFinish.PROHIBITED_CONTENT:
    case GoogleFinish.SPII:
    case GoogleFinish.IMAGE_SAFETY:
    case GoogleFinish.IMAGE_PROHIBITED_CONTENT:
    case GoogleFinish.IMAGE_RECITATION:
      return "content-filter";
    case GoogleFinish.MALFORMED_FUNCTION_CALL:
    case GoogleFinish.UNEXPECTED_TOOL_CALL:
    case MALFORMED_RESPONSE:
    case MISSING_SIGNATURE:
      throw new StreamFailure(reason.toLowerCase(), `the answer ended with ${reason}`);
    default:
      return "other";
  }
}
