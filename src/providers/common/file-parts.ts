/** Files of people and tools → what a model can read of them; shared by all vendors. Pure. */
import { isShownToModels, isTextType, plainMediaType as plainType } from "../../domain/files/file-types.js";
import type { FilePart, StoredFile } from "../../domain/chats/message-parts.js";
import { fenced, wellFormed } from "./prompt-parts.js";

/** Images that every vendor with eyes takes. */
const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
export const PDF_TYPE = "application/pdf";

/** Of one text, in its prompt; longer ones are cut, for a log that somebody drops in would fill the model's window. */
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

/** What stands for a file whose bytes are gone (`missing`) or that this model cannot take (`unsupported`). */
export function filePlaceholder(
  { name, mediaType, sizeBytes }: StoredFile,
  reason: "missing" | "unsupported",
): string {
  const problem = reason === "missing" ? "is not available" : "cannot be shown to this model";
  return wellFormed(`[file ${name} (${mediaType}, ${sizeBytes} bytes) ${problem}]`);
}

/** A text file as inline text with its name, decoded leniently as UTF-8, its beginning when long; undefined for every other type. */
export function textOfFile(part: FilePart, bytes: Uint8Array): string | undefined {
  if (!isTextType(part.mediaType)) return undefined;
  const isCut = bytes.length > MAX_INLINE_TEXT_BYTES;
  // With `stream`, half a character at the cut is left out.
  const text = new TextDecoder("utf-8").decode(bytes.subarray(0, MAX_INLINE_TEXT_BYTES), { stream: isCut });
  const note = `[the first ${MAX_INLINE_TEXT_BYTES} of its ${bytes.length} bytes]`;
  return wellFormed(`[file] ${part.name}\n${fenced(text)}${isCut ? `\n${note}` : ""}`);
}

/** The file's bytes as a data URL, as vendors take images and documents inline. */
export function fileDataUrl(part: FilePart, bytes: Uint8Array): string {
  return `data:${plainMediaType(part)};base64,${Buffer.from(bytes).toString("base64")}`;
}

/**
 * What stands for a tool's file that is not shown, be it that its bytes are gone or stay away (`bytes` undefined).
 * Also for texts: a tool says in its result what the model is to read.
 */
export function resultFilePlaceholder(file: StoredFile, bytes: Uint8Array | undefined): string {
  const isAway = bytes === undefined && isShownToModels(file.mediaType);
  return filePlaceholder(file, isAway ? "missing" : "unsupported");
}

/** A file of a tool's, to be shown as one that a person sent. */
export function asFilePart(file: StoredFile): FilePart {
  return { type: "file", ...file };
}
