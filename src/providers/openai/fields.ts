/** What both of OpenAI's formats, and Azure's and compatible servers' takes on them, build and decide alike. Pure. */
import { createHash } from "node:crypto";
import type { ModelProviderKind } from "../../domain/common/failures.js";
import type { JsonObject } from "../../domain/common/json.js";
import type { FilePart, StoredFile } from "../../domain/chats/message-parts.js";
import { nativeFileSupport } from "../../domain/models/model-capabilities.js";
import {
  asFilePart,
  fileDataUrl,
  filePlaceholder,
  isImage,
  isPdf,
  resultFilePlaceholder,
  textOfFile,
} from "../common/file-parts.js";

/** The vendor refuses longer cache keys. */
const CACHE_KEY_LIMIT_CHARACTERS = 64;

/** What the history → input conversion needs besides the history. */
export type PromptContext = {
  /** Whose metadata counts as own: what Azure encrypted, OpenAI cannot read. */
  kind: ModelProviderKind;
  files: ReadonlyMap<string, Uint8Array>;
  acceptsImages: boolean;
  acceptsPdfs: boolean;
};

export const OPENAI_CONTEXT: PromptContext = {
  kind: "openai",
  files: new Map(),
  acceptsImages: true,
  acceptsPdfs: true,
};

/** What a model takes by its name. Azure's deployments and compatible servers' models are called what their owners like. */
export function filesTaken(
  kind: ModelProviderKind,
  model: string,
): Pick<PromptContext, "acceptsImages" | "acceptsPdfs"> {
  if (kind !== "openai") return { acceptsImages: true, acceptsPdfs: true };
  const { takesImages: acceptsImages, takesPdfs: acceptsPdfs } = nativeFileSupport(model);
  return { acceptsImages, acceptsPdfs };
}

/** A file as these formats take it. */
export type ShownFile =
  { type: "image" | "pdf"; dataUrl: string; name: string } | { type: "text"; text: string };

/** What the model gets to see of a person's file: the thing itself, its text, or a placeholder. */
export function showFile(part: FilePart, context: PromptContext): ShownFile {
  const bytes = context.files.get(part.fileId);
  if (bytes === undefined) return { type: "text", text: filePlaceholder(part, "missing") };
  const text = () => textOfFile(part, bytes) ?? filePlaceholder(part, "unsupported");
  return shownItself(part, bytes, context) ?? { type: "text", text: text() };
}

/** What the model gets to see of a tool's file: the thing itself or a placeholder. */
export function showResultFile(file: StoredFile, context: PromptContext): ShownFile {
  const bytes = context.files.get(file.fileId);
  const shown = bytes && shownItself(asFilePart(file), bytes, context);
  return shown ?? { type: "text", text: resultFilePlaceholder(file, bytes) };
}

function shownItself(part: FilePart, bytes: Uint8Array, context: PromptContext): ShownFile | undefined {
  if (bytes.length === 0) return undefined;
  const name = part.name.trim() === "" ? "file" : part.name;
  if (context.acceptsImages && isImage(part))
    return { type: "image", dataUrl: fileDataUrl(part, bytes), name };
  if (context.acceptsPdfs && isPdf(part)) return { type: "pdf", dataUrl: fileDataUrl(part, bytes), name };
  return undefined;
}

/**
 * The key by which the vendor routes to a cached prompt; a configured one beats the chat's. Compatible servers get
 * only a configured one: strict ones refuse fields that they do not know.
 */
export function promptCacheKey(
  kind: ModelProviderKind,
  configured: string | undefined,
  cacheKey: string | undefined,
): string | undefined {
  if (configured !== undefined) return configured;
  if (kind === "openai_compatible" || cacheKey === undefined || cacheKey === "") return undefined;
  if (cacheKey.length <= CACHE_KEY_LIMIT_CHARACTERS) return cacheKey;
  return createHash("sha256").update(cacheKey).digest("hex");
}

/** The configured extra fields over the body; that the answer streams is not theirs to change. */
export function mergeExtraBody<Body extends { stream: true }>(
  body: Body,
  extraBody: JsonObject | undefined,
): Body {
  return extraBody === undefined ? body : { ...body, ...extraBody, stream: true };
}
