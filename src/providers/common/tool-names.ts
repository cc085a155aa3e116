/**
 * Reversible encoding of tool names into a form that every vendor accepts. Models may call tools by any name, and MCP
 * servers may use any name; one refused name, in the tools or anywhere in the history, would make every further call of
 * the chat fail.
 */
import { createHash } from "node:crypto";
import type { PromptPart } from "../../domain/chats/message-parts.js";
import type { ModelProvider, ModelRequest, ModelStreamPart, PromptMessage } from "../types.js";

/**
 * Accepted by all vendors: Anthropic, Bedrock and OpenAI require `^[a-zA-Z0-9_-]{1,64}$`; Gemini refuses a leading
 * digit or dash, and Moonshot anything but a leading letter.
 */
const LEGAL_NAME = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/;
const NAME_LIMIT_CHARACTERS = 64;
const HASH_CHARACTERS = 8;
/** Prefix of a name that does not begin with a letter. */
const PREFIX = "tool_";
/** The name of the vendors' own search, which no other tool may have beside it. */
const SEARCH_TOOL = "web_search";

/** Encoder and decoder for the names of one call. Unknown names are unchanged. */
export type ToolNames = { toVendor(name: string): string; fromVendor(name: string): string };

/**
 * The codec for all names of one call. A legal name is unchanged; others become their legal characters and a hash of
 * the whole name, which depends on nothing else, so that prompt prefixes stay cacheable. `reserved` names are the
 * vendor's own. Undefined when all names are legal.
 */
export function toolNames(names: Iterable<string>, reserved: readonly string[] = []): ToolNames | undefined {
  const all = new Set(names);
  const isLegal = (name: string) => LEGAL_NAME.test(name) && !reserved.includes(name);
  const illegal = [...all].filter((name) => !isLegal(name)).sort();
  if (illegal.length === 0) return undefined;
  const forward = new Map<string, string>();
  const backward = new Map<string, string>();
  for (const name of illegal) {
    let legal = legalForm(name, name);
    // On a collision with another tool's name, a counter is hashed as well.
    for (let count = 1; all.has(legal) || backward.has(legal); count++)
      legal = legalForm(name, `${name}\n${count}`);
    forward.set(name, legal);
    backward.set(legal, name);
  }
  return {
    toVendor: (name) => forward.get(name) ?? name,
    fromVendor: (name) => backward.get(name) ?? name,
  };
}

/** Wraps a provider: the vendor sees legal names only, callers see the original ones. */
export function withLegalNames(provider: ModelProvider): ModelProvider {
  return {
    stream: (request, signal) => {
      const reserved = request.options?.webSearch === undefined ? [] : [SEARCH_TOOL];
      const names = toolNames(namesIn(request), reserved);
      if (names === undefined) return provider.stream(request, signal);
      return decoded(provider.stream(encoded(request, names), signal), names);
    },
    findContextLimit: (model, signal) => provider.findContextLimit(model, signal),
    listModels: (signal) => provider.listModels(signal),
  };
}

function legalForm(name: string, hashed: string): string {
  const plain = name.replace(/[^a-zA-Z0-9_-]/g, "_");
  const begun = /^[a-zA-Z]/.test(plain) ? plain : `${PREFIX}${plain}`;
  const hash = createHash("sha256").update(hashed).digest("hex").slice(0, HASH_CHARACTERS);
  return `${begun.slice(0, NAME_LIMIT_CHARACTERS - HASH_CHARACTERS - 1)}_${hash}`;
}

/** Names of tools, and of calls and results in the history, except those that the vendor itself has run. */
function* namesIn({ tools, messages }: ModelRequest): Generator<string> {
  for (const { name } of tools) yield name;
  for (const { parts } of messages) for (const part of parts) if (isOurs(part)) yield part.toolName;
}

function encoded(request: ModelRequest, { toVendor }: ToolNames): ModelRequest {
  const encodePart = (part: PromptPart) =>
    isOurs(part) ? { ...part, toolName: toVendor(part.toolName) } : part;
  const encodeMessage = (message: PromptMessage) =>
    message.parts.some(isOurs) ? { ...message, parts: message.parts.map(encodePart) } : message;
  return {
    ...request,
    tools: request.tools.map((tool) => ({ ...tool, name: toVendor(tool.name) })),
    messages: request.messages.map(encodeMessage),
  };
}

async function* decoded(
  stream: AsyncIterable<ModelStreamPart>,
  { fromVendor }: ToolNames,
): AsyncGenerator<ModelStreamPart, void, undefined> {
  for await (const part of stream)
    yield part.type === "tool-input-delta" || (part.type === "tool-call" && !part.isProviderExecuted)
      ? { ...part, toolName: fromVendor(part.toolName) }
      : part;
}

function isOurs(part: PromptPart): part is Extract<PromptPart, { type: "tool-call" | "tool-result" }> {
  return (part.type === "tool-call" || part.type === "tool-result") && !part.isProviderExecuted;
}
