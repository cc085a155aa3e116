/** Conversion of users' and tools' files to model input; shared by all vendors. Pure. */
import { isShownToModels, isTextType, plainMediaType as plainType } from "../../domain/files/file-types.js";
import type { FilePart, StoredFile } from "../../domain/chats/message-parts.js";
import { fenced, wellFormed } from "./prompt-parts.js";

/** Image types that every vendor with vision accepts. */
const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
export const PDF_TYPE = "application/pdf";

/** Longest inline text of one file; longer ones are cut, as a log file could fill the context window. */
const MAX_INLINE_TEXT_BYTES = 128 * 1024;

/** A media type without its parameters, in lower case: `Text/Plain; charset=utf-8` → `text/plain`. */
export function plainMediaType({ mediaType }: Pick<FilePart, "mediaType">): string {
  return plainType(mediaType);
}

export function isImage(part: Pick<FilePart, "mediaType">): boolean {
  return IMAGE_TYPES.includes(plainMediaType(part));
}

export function isPdf(part: Pick<FilePart, "mediaType">): boolean {
  return plainMediaType(part) === PDF_TYPE;
}

/** Placeholder for a file whose bytes are gone (`missing`) or whose type the model does not accept (`unsupported`). */
export function filePlaceholder(
  { name, mediaType, sizeBytes }: StoredFile,
  reason: "missing" | "unsupported",
): string {
  const problem = reason === "missing" ? "is not available" : "cannot be shown to this model";
  return wellFormed(`[file ${name} (${mediaType}, ${sizeBytes} bytes) ${problem}]`);
}

/** A text file as inline text with its name, decoded leniently as UTF-8, cut when long; undefined for other types. */
export function textOfFile(part: FilePart, bytes: Uint8Array): string | undefined {
  if (!isTextType(part.mediaType)) return undefined;
  const isCut = bytes.length > MAX_INLINE_TEXT_BYTES;
  // With `stream`, an incomplete character at the cut is dropped.
  const text = new TextDecoder("utf-8").decode(bytes.subarray(0, MAX_INLINE_TEXT_BYTES), { stream: isCut });
  const note = `[the first ${MAX_INLINE_TEXT_BYTES} of its ${bytes.length} bytes]`;
  return wellFormed(`[file] ${part.name}\n${fenced(text)}${isCut ? `\n${note}` : ""}`);
}

/** The file's bytes as a data URL, for inline images and documents. */
export function fileDataUrl(part: FilePart, bytes: Uint8Array): string {
  return `data:${plainMediaType(part)};base64,${Buffer.from(bytes).toString("base64")}`;
}

/**
 * Placeholder for a tool's file that is not shown, also when its bytes are not loaded (`bytes` undefined). Also for
 * text files: a tool's result contains what the model should read.
 */
export function resultFilePlaceholder(file: StoredFile, bytes: Uint8Array | undefined): string {
  const isAway = bytes === undefined && isShownToModels(file.mediaType);
  return filePlaceholder(file, isAway ? "missing" : "unsupported");
}

/** A tool's file as a file part of a user message. */
export function asFilePart(file: StoredFile): FilePart {
  return { type: "file", ...file };
}
