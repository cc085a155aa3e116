/** Conversion of one message's parts to Claude's content blocks. Pure. */
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

/** The vendor refuses images above 5 MiB in base64; such an image would make every further call of its chat fail. */
const IMAGE_LIMIT_BYTES = (5 * 1024 * 1024 * 3) / 4;
/** The vendor refuses longer document titles. */
const TITLE_LIMIT_CHARACTERS = 500;

/** Which parts of a history are sent, and the contents of its files. */
export type BlockRules = {
  files: ModelRequest["files"];
  /** Whether the API accepts web searches and their citations in the history; Bedrock does not. */
  takesSearches: boolean;
  /** Whether earlier thinking is sent. */
  takesReasoning: boolean;
  /** Whether the model accepts images and PDFs; otherwise they become placeholders. */
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

/** Images and documents are allowed in messages of users and tools; in the model's own the vendor refuses them. */
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

/** Thinking is sent only with this vendor's signature. */
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

/** A string when there is only text. */
function resultContent(
  { result, isError, files = [] }: ToolResultPart,
  rules: BlockRules,
): ToolResultBlockParam["content"] {
  const output = toolResultText(result);
  if (files.length === 0) return output;
  // The vendor accepts only text in the result of a failed call.
  if (isError) return [output, ...files.map((file) => filePlaceholder(file, "unsupported"))].join("\n");
  const text = output.trim() === "" ? [] : [{ type: "text" as const, text: output }];
  return [...text, ...files.map((file) => resultFileBlock(file, rules))];
}

function resultFileBlock(file: StoredFile, rules: BlockRules) {
  const bytes = rules.files?.get(file.fileId);
  const shown = bytes && shownBlock(asFilePart(file), bytes, rules);
  return shown ?? { type: "text" as const, text: resultFilePlaceholder(file, bytes) };
}

/** Ids of this vendor's searches with both call and result; the vendor refuses an incomplete pair. */
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
  // The vendor's own content, stored unparsed and sent back unchanged.
  const block = { ...result, ...callerOf(part) } as unknown;
  return [block as ContentBlockParam];
}

function callerOf({ providerMetadata }: ToolCallPart | ToolResultPart) {
  const { caller } = ownMetadata(providerMetadata, "anthropic");
  return caller === undefined ? {} : { caller };
}
