/** Whether what an upload was announced as is what came. Pure. */
import { isShownToModels, isTextType, plainMediaType, UNKNOWN_MEDIA_TYPE } from "./file-types.js";

/** What bytes are by themselves; `mediaType` is null when only so much is known. */
export type FileContent = { kind: "text" | "binary"; mediaType: string | null };

/** `refused`: in words for the person, without a name. */
export type ContentVerdict = { mediaType: string } | { refused: string };

/** Archives that other kinds of files are made of: `application/zip` is no lie for any of them. */
const ZIP_KIND = /zip|openxml|opendocument|epub|java-archive|android|apple\.(?:pages|numbers|keynote)/;
/** Their first bytes are known to everybody, so other bytes are something else. */
const EXACT_APPLICATIONS: ReadonlySet<string> = new Set(["application/pdf", "application/gzip"]);
/** Written in letters, and still no text to read. */
const LETTERED_DOCUMENTS: ReadonlySet<string> = new Set(["application/pdf"]);

/**
 * The media type to keep a file by: the content's own where that is known, the announced one among texts, which look
 * all alike. What contradicts is refused: whoever announces a picture and sends a page means no good.
 */
export function verifyContent(announced: string, content: FileContent): ContentVerdict {
  const wanted = plainMediaType(announced);
  if (wanted === UNKNOWN_MEDIA_TYPE) return { mediaType: nameOf(content) };
  return content.kind === "text" ? judgeText(wanted, content) : judgeBinary(wanted, content);
}

function nameOf({ kind, mediaType }: FileContent): string {
  return mediaType ?? (kind === "text" ? "text/plain" : UNKNOWN_MEDIA_TYPE);
}

function judgeText(wanted: string, content: FileContent): ContentVerdict {
  const { mediaType } = content;
  if (mediaType !== null && LETTERED_DOCUMENTS.has(mediaType)) return same(wanted, mediaType);
  if (isTextType(wanted)) return { mediaType: wanted };
  if (mediaType === wanted) return { mediaType: wanted };
  const isVague =
    wanted.startsWith("application/") && !EXACT_APPLICATIONS.has(wanted) && !ZIP_KIND.test(wanted);
  return isVague ? { mediaType: nameOf(content) } : contradiction(wanted, "text");
}

function judgeBinary(wanted: string, { mediaType }: FileContent): ContentVerdict {
  if (isTextType(wanted)) return contradiction(wanted, mediaType ?? "no text in UTF-8");
  if (mediaType === null) {
    if (isShownToModels(wanted) || EXACT_APPLICATIONS.has(wanted))
      return contradiction(wanted, "something else");
    return { mediaType: UNKNOWN_MEDIA_TYPE };
  }
  if (wanted === "application/zip" && ZIP_KIND.test(mediaType)) return { mediaType };
  const [family, found] = [wanted, mediaType].map((type) => type.split("/", 1)[0] ?? "");
  if (isShownToModels(wanted) || isShownToModels(mediaType)) return same(wanted, mediaType);
  if (EXACT_APPLICATIONS.has(wanted)) return same(wanted, mediaType);
  // Containers of films hold sounds alone too.
  const areMoving = [family, found].every((it) => it === "audio" || it === "video");
  const isSameFamily = family === found && family !== "image" && family !== "font";
  return areMoving || isSameFamily ? { mediaType } : same(wanted, mediaType);
}

function same(wanted: string, found: string): ContentVerdict {
  return wanted === found ? { mediaType: found } : contradiction(wanted, found);
}

function contradiction(wanted: string, found: string): ContentVerdict {
  return { refused: `It was announced as ${wanted}, but is ${found}.` };
}
