/** Verifies an upload's content against its declared media type. Pure. */
import { isShownToModels, isTextType, plainMediaType, UNKNOWN_MEDIA_TYPE } from "./file-types.js";

/** Detected content; `mediaType` is null when only the kind is known. */
export type FileContent = { kind: "text" | "binary"; mediaType: string | null };

/** `refused`: the reason, worded for the user, without the file's name. */
type ContentVerdict = { mediaType: string } | { refused: string };

/** Formats that are ZIP archives: `application/zip` is a correct declaration for each of them. */
const ZIP_KIND = /zip|openxml|opendocument|epub|java-archive|android|apple\.(?:pages|numbers|keynote)/;
/** Formats with well-known magic bytes: other bytes are another format. */
const EXACT_APPLICATIONS: ReadonlySet<string> = new Set(["application/pdf", "application/gzip"]);
/** Documents whose bytes are text, but not readable as text. */
const LETTERED_DOCUMENTS: ReadonlySet<string> = new Set(["application/pdf"]);

/**
 * The media type to store a file under: the detected one where known, the declared one for texts, which look alike. A
 * contradiction is refused: an HTML page declared as an image is an attack.
 */
export function verifyContent(declared: string, content: FileContent): ContentVerdict {
  const declaredType = plainMediaType(declared);
  if (declaredType === UNKNOWN_MEDIA_TYPE) return { mediaType: nameOf(content) };
  return content.kind === "text" ? verifyText(declaredType, content) : verifyBinary(declaredType, content);
}

function nameOf({ kind, mediaType }: FileContent): string {
  return mediaType ?? (kind === "text" ? "text/plain" : UNKNOWN_MEDIA_TYPE);
}

function verifyText(declaredType: string, content: FileContent): ContentVerdict {
  const { mediaType } = content;
  if (mediaType !== null && LETTERED_DOCUMENTS.has(mediaType)) return same(declaredType, mediaType);
  if (isTextType(declaredType)) return { mediaType: declaredType };
  if (mediaType === declaredType) return { mediaType: declaredType };
  const isVague =
    declaredType.startsWith("application/") &&
    !EXACT_APPLICATIONS.has(declaredType) &&
    !ZIP_KIND.test(declaredType);
  return isVague ? { mediaType: nameOf(content) } : contradiction(declaredType, "text");
}

function verifyBinary(declaredType: string, { mediaType }: FileContent): ContentVerdict {
  if (isTextType(declaredType)) return contradiction(declaredType, mediaType ?? "not UTF-8 text");
  if (mediaType === null) {
    if (isShownToModels(declaredType) || EXACT_APPLICATIONS.has(declaredType))
      return contradiction(declaredType, "something else");
    return { mediaType: UNKNOWN_MEDIA_TYPE };
  }
  if (declaredType === "application/zip" && ZIP_KIND.test(mediaType)) return { mediaType };
  const [family, found] = [declaredType, mediaType].map((type) => type.split("/", 1)[0] ?? "");
  if (isShownToModels(declaredType) || isShownToModels(mediaType)) return same(declaredType, mediaType);
  if (EXACT_APPLICATIONS.has(declaredType)) return same(declaredType, mediaType);
  // Video containers may contain audio only.
  const areMoving = [family, found].every((it) => it === "audio" || it === "video");
  const isSameFamily = family === found && family !== "image" && family !== "font";
  return areMoving || isSameFamily ? { mediaType } : same(declaredType, mediaType);
}

function same(declaredType: string, found: string): ContentVerdict {
  return declaredType === found ? { mediaType: found } : contradiction(declaredType, found);
}

function contradiction(declaredType: string, found: string): ContentVerdict {
  return { refused: `It was declared as ${declaredType}, but is ${found}.` };
}
