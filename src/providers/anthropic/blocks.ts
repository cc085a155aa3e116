/** One message's parts → Claude's content blocks. Pure. */
import type {
  Base64ImageSource,
  ContentBlockParam,
  DocumentBlockParam,
  ImageBlockParam,
  ServerToolUseBlockParam,
  ToolResultBlockParam,
  ToolUseBlockParam,
} from "@anthropic-ai/sdk/resources/messages/messages";
import type {
  FilePart,
  PromptPart,
  ReasoningPart,
  StoredFile,
  ToolCallPart,
  ToolResultPart,
} from "../../domain/chats/message-parts.js";
import { textBlocks } from "./citations.js";
import { sanitizeToolCallId } from "../common/call-ids.js";
import {
  asFilePart,
  filePlaceholder,
  isImage,
  isPdf,
  PDF_TYPE,
  plainMediaType,
  resultFilePlaceholder,
  textOfFile,
} from "../common/file-parts.js";
import { fileReferenceText, ownMetadata, toolResultText, wellFormed } from "../common/prompt-parts.js";
import type { ModelRequest, PromptMessage } from "../types.js";

/** The vendor refuses images above 5 MiB, counted in base64; such an image would make its chat unusable for ever. */
const IMAGE_LIMIT_BYTES = (5 * 1024 * 1024 * 3) / 4;
/** The vendor refuses longer titles of documents. */
const TITLE_LIMIT_CHARACTERS = 500;

/** What of a history may go back, besides the parts themselves. */
export type BlockRules = {
  files: ModelRequest["files"];
  /** The door takes web searches and their citations back; Bedrock knows neither. */
  takesSearches: boolean;
  /** Earlier thinking goes back. */
  takesReasoning: boolean;
  /** The model looks at pictures, and at documents; others are told that there is one. */
  takesImages: boolean;
  takesPdfs: boolean;
};

export const DEFAULT_BLOCK_RULES: BlockRules = {
  files: undefined,
  takesSearches: true,
  takesReasoning: true,
  takesImages: true,
  takesPdfs: true,
};

export function toBlocks({ role, parts }: PromptMessage, rules: BlockRules): ContentBlockParam[] {
  const isAssistant = role === "assistant";
  const searches = rules.takesSearches ? pairedSearches(parts) : new Set<string>();
  return parts.flatMap((part): ContentBlockParam[] => {
    switch (part.type) {
      case "text":
        return textBlocks(part, rules.takesSearches && isAssistant);
      case "file-reference":
        return [{ type: "text", text: fileReferenceText(part) }];
      case "file":
        return [fileBlock(part, rules, isAssistant)];
      case "reasoning":
        return isAssistant && rules.takesReasoning ? thinkingBlocks(part) : [];
      case "tool-call":
        if (!isAssistant) return [];
        return part.isProviderExecuted ? searchCallBlocks(part, searches) : [toolUseBlock(part)];
      case "tool-result":
        if (part.isProviderExecuted) return searchResultBlocks(part, searches);
        return isAssistant ? [] : [toolResultBlock(part, rules)];
      case "source":
        return [];
    }
  });
}

/** Only people and tools show pictures and documents; in the model's own messages the vendor refuses them. */
function fileBlock(part: FilePart, rules: BlockRules, isAssistant: boolean): ContentBlockParam {
  const bytes = rules.files?.get(part.fileId);
  if (bytes === undefined) return { type: "text", text: filePlaceholder(part, "missing") };
  const text = textOfFile(part, bytes);
  if (text !== undefined) return { type: "text", text };
  const shown = isAssistant ? undefined : shownBlock(part, bytes, rules);
  return shown ?? { type: "text", text: filePlaceholder(part, "unsupported") };
}

function shownBlock(
  part: FilePart,
  bytes: Uint8Array,
  { takesImages, takesPdfs }: BlockRules,
): ImageBlockParam | DocumentBlockParam | undefined {
  if (bytes.length === 0) return undefined;
  const data = () => Buffer.from(bytes).toString("base64");
  if (takesImages && isImage(part) && bytes.length <= IMAGE_LIMIT_BYTES) {
    const media_type = plainMediaType(part) as Base64ImageSource["media_type"];
    return { type: "image", source: { type: "base64", media_type, data: data() } };
  }
  if (!takesPdfs || !isPdf(part)) return undefined;
  const source = { type: "base64", media_type: PDF_TYPE, data: data() } as const;
  const title = wellFormed(part.name).slice(0, TITLE_LIMIT_CHARACTERS);
  return { type: "document", source, ...(title.trim() === "" ? {} : { title }) };
}

/** Thinking goes back only with the signature that this vendor gave it. */
function thinkingBlocks(part: ReasoningPart): ContentBlockParam[] {
  const { signature, redactedData } = ownMetadata(part.providerMetadata, "anthropic");
  if (typeof redactedData === "string") return [{ type: "redacted_thinking", data: redactedData }];
  if (typeof signature !== "string" || signature === "") return [];
  return [{ type: "thinking", thinking: part.text, signature }];
}

function toolUseBlock(part: ToolCallPart): ToolUseBlockParam {
  return {
    type: "tool_use",
    id: sanitizeToolCallId(part.toolCallId),
    name: part.toolName,
    input: part.arguments,
  };
}

function toolResultBlock(part: ToolResultPart, rules: BlockRules): ToolResultBlockParam {
  return {
    type: "tool_result",
    tool_use_id: sanitizeToolCallId(part.toolCallId),
    content: resultContent(part, rules),
    ...(part.isError ? { is_error: true } : {}),
  };
}

/** Plain text as long as there is nothing else. */
function resultContent(
  { result, isError, files = [] }: ToolResultPart,
  rules: BlockRules,
): ToolResultBlockParam["content"] {
  const words = toolResultText(result);
  if (files.length === 0) return words;
  // The vendor takes nothing but text in the result of a failed call.
  if (isError) return [words, ...files.map((file) => filePlaceholder(file, "unsupported"))].join("\n");
  const text = words.trim() === "" ? [] : [{ type: "text" as const, text: words }];
  return [...text, ...files.map((file) => resultFileBlock(file, rules))];
}

function resultFileBlock(file: StoredFile, rules: BlockRules) {
  const bytes = rules.files?.get(file.fileId);
  const shown = bytes && shownBlock(asFilePart(file), bytes, rules);
  return shown ?? { type: "text" as const, text: resultFilePlaceholder(file, bytes) };
}

/** Searches of this vendor whose call and result are both here; half a pair would be refused. */
function pairedSearches(parts: PromptPart[]): Set<string> {
  const called = new Set<string>();
  const paired = new Set<string>();
  for (const part of parts) {
    if (part.type !== "tool-call" && part.type !== "tool-result") continue;
    if (!part.isProviderExecuted || part.toolName !== "web_search") continue;
    if (part.type === "tool-call") called.add(part.toolCallId);
    else if (called.has(part.toolCallId) && "content" in ownMetadata(part.providerMetadata, "anthropic"))
      paired.add(part.toolCallId);
  }
  return paired;
}

function searchCallBlocks(part: ToolCallPart, paired: Set<string>): ContentBlockParam[] {
  if (!paired.has(part.toolCallId)) return [];
  const call = { type: "server_tool_use", id: part.toolCallId, name: "web_search" } as const;
  const block = { ...call, input: part.arguments, ...callerOf(part) };
  return [block as ServerToolUseBlockParam];
}

function searchResultBlocks(part: ToolResultPart, paired: Set<string>): ContentBlockParam[] {
  if (!paired.has(part.toolCallId)) return [];
  const { content } = ownMetadata(part.providerMetadata, "anthropic");
  const result = { type: "web_search_tool_result", tool_use_id: part.toolCallId, content };
  // The vendor's own words, kept unread so that they can go back exactly as they came.
  const block = { ...result, ...callerOf(part) } as unknown;
  return [block as ContentBlockParam];
}

function callerOf({ providerMetadata }: ToolCallPart | ToolResultPart) {
  const { caller } = ownMetadata(providerMetadata, "anthropic");
  return caller === undefined ? {} : { caller };
}
