/** Conversion of one message's parts to Gemini's parts, each with its own signature. Pure. */
import type { FunctionResponsePart, Part } from "@google/genai";
import type { JsonObject, JsonValue } from "../../domain/common/json.js";
import type {
  FilePart,
  PromptPart,
  ReasoningPart,
  StoredFile,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from "../../domain/chats/message-parts.js";
import { sanitizeToolCallId } from "../common/call-ids.js";
import {
  filePlaceholder,
  isPdf,
  PDF_TYPE,
  plainMediaType,
  resultFilePlaceholder,
  textOfFile,
} from "../common/file-parts.js";
import { demandsSignatures, takesFilesInResults } from "./models.js";
import { fileReferenceText, isJsonObject, ownMetadata, wellFormed } from "../common/prompt-parts.js";
import type { ModelRequest, PromptMessage } from "../types.js";

/**
 * The vendor's documented placeholder for the signature of a call by another vendor or model: it disables the check for
 * that part.
 */
const PLACEHOLDER_SIGNATURE = "skip_thought_signature_validator";

/** Accepted inline besides PDFs, according to the vendor's pages on images, audio and video; not GIF. */
const MEDIA_TYPES = new Set([
  ...["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"],
  ...["audio/wav", "audio/mp3", "audio/mpeg", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac"],
  ...["video/mp4", "video/mpeg", "video/webm"],
]);

/** Accepted in a function's response, according to the vendor's page on function calling. */
const RESULT_TYPES = new Set(["image/png", "image/jpeg", "image/webp", "application/pdf"]);

/** Context of the conversion. */
export type PartContext = Pick<ModelRequest, "model" | "files"> & {
  /** Whether the vendor's search is on; without it, search parts are refused. */
  isSearching: boolean;
};

/** In the message's order. Parts that this vendor does not accept are omitted. */
export function toGoogleParts(message: PromptMessage, context: PartContext): Part[] {
  const pairs = pairedProviderCalls(message.parts);
  const parts = message.parts.flatMap((part): Part[] => {
    switch (part.type) {
      case "text":
        return textParts(part, context);
      case "file-reference":
        return [{ text: fileReferenceText(part) }];
      case "file":
        return [filePart(part, context)];
      case "reasoning":
        return message.role === "assistant" ? thoughtParts(part, context) : [];
      case "tool-call":
        if (message.role !== "assistant") return [];
        return part.isProviderExecuted ? providerParts(part, pairs, context) : [callPart(part, context)];
      case "tool-result":
        if (part.isProviderExecuted) return providerParts(part, pairs, context);
        return message.role === "assistant" ? [] : [resultPart(part, context)];
      case "source":
        return [];
    }
  });
  const all = message.role === "tool" ? [...parts, ...message.parts.flatMap(besideResults(context))] : parts;
  return demandsSignatures(context.model) ? signFirstCall(all) : all;
}

/** The metadata of this model; other models' signatures are not valid for it. */
function metadataOf(part: { providerMetadata?: JsonObject }, { model }: PartContext): JsonObject {
  const own = ownMetadata(part.providerMetadata, "google");
  return own.model === model ? own : {};
}

function signatureOf(metadata: JsonObject): { thoughtSignature?: string } {
  const { thoughtSignature } = metadata;
  return typeof thoughtSignature === "string" && thoughtSignature !== "" ? { thoughtSignature } : {};
}

/** Text deltas were joined: `signedFrom` is the start of the last one, which is signed. */
function textParts(part: TextPart, context: PartContext): Part[] {
  const signed = signedText(part, metadataOf(part, context));
  const text = wellFormed(part.text);
  if (signed === undefined) return text.trim() === "" ? [] : [{ text }];
  const before = text.slice(0, text.length - signed.text.length);
  return before === "" ? [signed] : [{ text: before }, signed];
}

/** Thoughts without a signature are summaries for users and are not sent. */
function thoughtParts(part: ReasoningPart, context: PartContext): Part[] {
  const metadata = metadataOf(part, context);
  const signed = signedText(part, metadata);
  if (signed === undefined) return [];
  return [metadata.isText === true ? signed : { ...signed, thought: true }];
}

function signedText(
  { text }: { text: string },
  metadata: JsonObject,
): { text: string; thoughtSignature: string } | undefined {
  const { thoughtSignature } = signatureOf(metadata);
  const { signedFrom = 0 } = metadata;
  if (thoughtSignature === undefined || typeof signedFrom !== "number" || signedFrom > text.length)
    return undefined;
  return { text: wellFormed(text.slice(signedFrom)), thoughtSignature };
}

function callPart(part: ToolCallPart, context: PartContext): Part {
  return {
    functionCall: {
      id: sanitizeToolCallId(part.toolCallId),
      name: part.toolName,
      args: wellFormedObject(part.arguments),
    },
    ...signatureOf(metadataOf(part, context)),
  };
}

/** Results are always wrapped, so that a tool's own `output` or `error` is not mistaken for the vendor's. */
function resultPart(part: ToolResultPart, context: PartContext): Part {
  const { toolCallId, toolName, result, isError, files = [] } = part;
  const isErrorObject = isJsonObject(result) && "error" in result;
  const response = isError ? (isErrorObject ? result : { error: result }) : { output: result };
  const shown = files.map((file) => [file, shownFile(file, context)] as const);
  const inside = shown.flatMap(([, it]) => (it?.isInside ? [it.part as FunctionResponsePart] : []));
  const notes = shown.flatMap(([file, it]) =>
    it === undefined ? [resultFilePlaceholder(file, context.files?.get(file.fileId))] : [],
  );
  return {
    functionResponse: {
      id: sanitizeToolCallId(toolCallId),
      name: toolName,
      response: wellFormedObject(notes.length === 0 ? response : { ...response, files: notes }),
      ...(inside.length === 0 ? {} : { parts: inside }),
    },
  };
}

/** A step's files that responses cannot contain: they follow the last response, each under a line with its call. */
function besideResults(context: PartContext): (part: PromptPart) => Part[] {
  return (part) => {
    if (part.type !== "tool-result" || part.isProviderExecuted) return [];
    return (part.files ?? []).flatMap((file) => {
      const shown = shownFile(file, context);
      if (shown === undefined || shown.isInside) return [];
      const call = sanitizeToolCallId(part.toolCallId);
      return [
        { text: wellFormed(`[file ${file.name}, given by ${part.toolName} in the call ${call}]`) },
        shown.part,
      ];
    });
  };
}

/** Undefined for types that the model does not accept. */
function shownFile(
  file: StoredFile,
  { files, model }: PartContext,
): { part: Part; isInside: boolean } | undefined {
  const bytes = files?.get(file.fileId);
  const mimeType = plainMediaType(file);
  const isSeen = mimeType === PDF_TYPE || MEDIA_TYPES.has(mimeType);
  if (bytes === undefined || bytes.length === 0 || !isSeen) return undefined;
  const part = { inlineData: { mimeType, data: Buffer.from(bytes).toString("base64") } };
  return { part, isInside: takesFilesInResults(model) && RESULT_TYPES.has(mimeType) };
}

/** Only the first of a step's parallel calls is signed, also in the vendor's own answers. */
function signFirstCall(parts: Part[]): Part[] {
  const first = parts.findIndex(({ functionCall }) => functionCall !== undefined);
  return parts.map((part, index) =>
    index === first && part.thoughtSignature === undefined
      ? { ...part, thoughtSignature: PLACEHOLDER_SIGNATURE }
      : part,
  );
}

/** Ids of the vendor's own calls with both call and result; the vendor refuses an incomplete pair. */
function pairedProviderCalls(parts: PromptPart[]): Set<string> {
  const idsOf = (type: "tool-call" | "tool-result") =>
    parts.flatMap((part) => (part.type === type && part.isProviderExecuted ? [part.toolCallId] : []));
  const answered = new Set(idsOf("tool-result"));
  return new Set(idsOf("tool-call").filter((id) => answered.has(id)));
}

/** The vendor's own part, stored unparsed and sent back unchanged. */
function providerParts(
  part: ToolCallPart | ToolResultPart,
  pairs: ReadonlySet<string>,
  context: PartContext,
): Part[] {
  const { part: original } = metadataOf(part, context);
  return context.isSearching && pairs.has(part.toolCallId) && isJsonObject(original) ? [original] : [];
}

function filePart(part: FilePart, { files }: PartContext): Part {
  const bytes = files?.get(part.fileId);
  if (bytes === undefined) return { text: filePlaceholder(part, "missing") };
  const mimeType = plainMediaType(part);
  if (isPdf(part) || MEDIA_TYPES.has(mimeType))
    return { inlineData: { mimeType, data: Buffer.from(bytes).toString("base64") } };
  return { text: textOfFile(part, bytes) ?? filePlaceholder(part, "unsupported") };
}

function wellFormedObject(value: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [wellFormed(key), wellFormedValue(member)]),
  );
}

function wellFormedValue(value: JsonValue): JsonValue {
  if (typeof value === "string") return wellFormed(value);
  if (Array.isArray(value)) return value.map(wellFormedValue);
  return isJsonObject(value) ? wellFormedObject(value) : value;
}
