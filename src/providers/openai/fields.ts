/** Request fields that both of OpenAI's formats share, also on Azure and compatible servers. Pure. */
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

/** Context of the conversion of a history. */
export type PromptContext = {
  /** The provider whose metadata is used: OpenAI cannot read what Azure encrypted. */
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

/**
 * File types that a model accepts, by its name. Azure's deployments and compatible servers' models have arbitrary
 * names.
 */
export function filesTaken(
  kind: ModelProviderKind,
  model: string,
): Pick<PromptContext, "acceptsImages" | "acceptsPdfs"> {
  if (kind !== "openai") return { acceptsImages: true, acceptsPdfs: true };
  const { takesImages: acceptsImages, takesPdfs: acceptsPdfs } = nativeFileSupport(model);
  return { acceptsImages, acceptsPdfs };
}

/** A file in the forms that these formats accept. */
export type ShownFile =
  { type: "image" | "pdf"; dataUrl: string; name: string } | { type: "text"; text: string };

/** A user's file for the model: the file itself, its text, or a placeholder. */
export function showFile(part: FilePart, context: PromptContext): ShownFile {
  const bytes = context.files.get(part.fileId);
  if (bytes === undefined) return { type: "text", text: filePlaceholder(part, "missing") };
  const text = () => textOfFile(part, bytes) ?? filePlaceholder(part, "unsupported");
  return shownItself(part, bytes, context) ?? { type: "text", text: text() };
}

/** A tool's file for the model: the file itself or a placeholder. */
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
 * The key by which the vendor routes to a cached prompt; a configured one overrides the chat's. Compatible servers get
 * only a configured one: strict ones refuse unknown fields.
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

/** The body with the configured extra fields, which cannot override `stream`. */
export function mergeExtraBody<Body extends { stream: true }>(
  body: Body,
  extraBody: JsonObject | undefined,
): Body {
  return extraBody === undefined ? body : { ...body, ...extraBody, stream: true };
}
