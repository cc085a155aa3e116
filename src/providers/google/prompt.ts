/** Builder of Gemini's request: history with strictly alternating roles, tools, thinking, safety. Pure. */
import {
  FunctionCallingConfigMode,
  type Content,
  type FunctionDeclaration,
  type GenerateContentConfig,
  type GenerateContentParameters,
  type SafetySetting,
  type Tool,
  type ToolConfig,
} from "@google/genai";
import { searchesBesideTools } from "./models.js";
import type { GoogleOptions } from "./options.js";
import { type PartContext, toGoogleParts } from "./parts.js";
import { googleThinking } from "./thinking.js";
import { wellFormed } from "../common/prompt-parts.js";
import type { ModelRequest, PromptMessage, ToolDefinition } from "../types.js";

/** The first content must be the user's; a history cut by compaction may begin with the assistant. */
const CONTINUATION_TEXT = "(The conversation continues.)";

/** The whole request. Parts that this vendor does not accept are omitted; never throws. */
export function buildGoogleRequest(
  request: ModelRequest,
  options: GoogleOptions = {},
): GenerateContentParameters {
  const { model, files, messages } = request;
  const isSearching = options.webSearch !== undefined;
  return {
    model,
    contents: toGoogleContents(messages, { model, files, isSearching }),
    config: {
      ...samplingOf(request, options),
      ...(options.cachedContent === undefined
        ? frameOf(request, isSearching)
        : { cachedContent: options.cachedContent }),
      // Disables the SDK's own loops: function execution, and continuation of cut answers.
      automaticFunctionCalling: { disable: true },
      automaticContinuation: false,
    },
  };
}

/** Why these options cannot work for this request; undefined when they can. Clearer than the vendor's own error. */
export function optionsConflict(
  { model, tools }: ModelRequest,
  { webSearch }: GoogleOptions,
): string | undefined {
  if (webSearch === undefined || tools.length === 0 || searchesBesideTools(model)) return undefined;
  return `\`webSearch\`: ${model} cannot search in a chat with tools; Gemini 3 and newer can`;
}

/** Contents with strictly alternating roles: neighbours of one role are merged, empty ones omitted. */
function toGoogleContents(messages: PromptMessage[], context: PartContext): Content[] {
  const merged: Required<Content>[] = [];
  for (const message of messages) {
    const role = message.role === "assistant" ? "model" : "user";
    const parts = toGoogleParts(message, context);
    if (parts.length === 0) continue;
    const last = merged.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else merged.push({ role, parts });
  }
  if (merged[0]?.role === "model") merged.unshift({ role: "user", parts: [{ text: CONTINUATION_TEXT }] });
  return merged;
}

function samplingOf(request: ModelRequest, options: GoogleOptions): GenerateContentConfig {
  const { temperature, topP, topK, safetySettings } = options;
  const thinkingConfig = googleThinking(request, options);
  return {
    ...(request.maxOutputTokens === null ? {} : { maxOutputTokens: request.maxOutputTokens }),
    ...(thinkingConfig === undefined ? {} : { thinkingConfig }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(topK === undefined ? {} : { topK }),
    // The SDK's enums have the same values.
    ...(safetySettings === undefined ? {} : { safetySettings: safetySettings as SafetySetting[] }),
  };
}

/** System prompt and tools, which a cached prompt replaces. */
function frameOf({ system, tools, toolChoice }: ModelRequest, isSearching: boolean): GenerateContentConfig {
  const declared: Tool[] = tools.length === 0 ? [] : [{ functionDeclarations: tools.map(toDeclaration) }];
  const allTools: Tool[] = isSearching ? [...declared, { googleSearch: {} }] : declared;
  const toolConfig = toolConfigOf(declared.length > 0, isSearching, toolChoice);
  return {
    ...(system.trim() === "" ? {} : { systemInstruction: { parts: [{ text: wellFormed(system) }] } }),
    ...(allTools.length === 0 ? {} : { tools: allTools }),
    ...(toolConfig === undefined ? {} : { toolConfig }),
  };
}

function toolConfigOf(
  hasFunctions: boolean,
  isSearching: boolean,
  toolChoice: ModelRequest["toolChoice"],
): ToolConfig | undefined {
  if (!hasFunctions) return undefined;
  const isForbidden = toolChoice === "none";
  if (!isForbidden && !isSearching) return undefined;
  return {
    ...(isForbidden ? { functionCallingConfig: { mode: FunctionCallingConfigMode.NONE } } : {}),
    // Search together with functions requires that search parts are included and sent back.
    ...(isSearching ? { includeServerSideToolInvocations: true } : {}),
  };
}

function toDeclaration({ name, description, inputSchema }: ToolDefinition): FunctionDeclaration {
  return { name, description, parametersJsonSchema: { ...inputSchema, type: "object" } };
}
