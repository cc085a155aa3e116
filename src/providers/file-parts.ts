/** Uploaded files → what a model can read of them; shared by all vendors. Pure. */
import type { FilePart } from "../domain/message-parts.js";
import { fenced, wellFormed } from "./prompt-parts.js";

/** Images that every vendor with eyes takes. */
const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
export const PDF_TYPE = "application/pdf";

/** Types outside `text/*` whose bytes are text all the same, besides `…+json`, `…+xml` and `…+yaml`. */
const TEXT_TYPES = new Set([
  "application/json",
  "application/jsonl",
  "application/x-ndjson",
  "application/xml",
  "application/yaml",
  "application/x-yaml",
  "application/toml",
  "application/javascript",
  "application/x-javascript",
  "application/typescript",
  "application/sql",
  "application/graphql",
  "application/x-sh",
]);

/** A media type without its parameters, in lower case: `Text/Plain; charset=utf-8` → `text/plain`. */
export function plainMediaType({ mediaType }: Pick<FilePart, "mediaType">): string {
  const type = (mediaType.split(";", 1)[0] ?? "").trim().toLowerCase();
  return type === "image/jpg" ? "image/jpeg" : type;
}

export function isImage(part: Pick<FilePart, "mediaType">): boolean {
  return IMAGE_TYPES.includes(plainMediaType(part));
}

export function isPdf(part: Pick<FilePart, "mediaType">): boolean {
  return plainMediaType(part) === PDF_TYPE;
}

/** What stands for a file whose bytes are gone (`missing`) or that this model cannot take (`unsupported`). */
export function filePlaceholder(
  { name, mediaType, sizeBytes }: FilePart,
  reason: "missing" | "unsupported",
): string {
  const problem = reason === "missing" ? "is not available" : "cannot be shown to this model";
  return wellFormed(`[file ${name} (${mediaType}, ${sizeBytes} bytes) ${problem}]`);
}

/** A text file as inline text with its name, decoded leniently as UTF-8; undefined for every other type. */
export function textOfFile(part: FilePart, bytes: Uint8Array): string | undefined {
  const type = plainMediaType(part);
  const isText = type.startsWith("text/") || TEXT_TYPES.has(type) || /\+(json|xml|yaml)$/.test(type);
  if (!isText) return undefined;
  const text = new TextDecoder("utf-8").decode(bytes);
  return wellFormed(`[file] ${part.name}\n${fenced(text)}`);
}

/** The file's bytes as a data URL, as vendors take images and documents inline. */
export function fileDataUrl(part: FilePart, bytes: Uint8Array): string {
  return `data:${plainMediaType(part)};base64,${Buffer.from(bytes).toString("base64")}`;
}
