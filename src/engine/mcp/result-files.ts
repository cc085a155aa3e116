/** The files in what a tool server's tool answered: its pictures, sounds and whatever else is no text. Pure. */
import type { ToolFile } from "../../domain/chats/tool-outcome.js";
import type { McpPart } from "../../mcp/types.js";

/** Endings of the types that tools give most; others have names without one. */
const ENDINGS: Readonly<Record<string, string>> = {
  "image/png": ".png",
  "image/jpeg": ".jpg",
  "image/gif": ".gif",
  "image/webp": ".webp",
  "image/svg+xml": ".svg",
  "audio/mpeg": ".mp3",
  "audio/wav": ".wav",
  "audio/ogg": ".ogg",
  "application/pdf": ".pdf",
};

/** Each with the part that it was; parts without a byte are none. Types are as the server calls them. */
export function resultFiles(parts: readonly McpPart[]): (ToolFile & { part: McpPart })[] {
  return parts.flatMap((part, index) => {
    const media = mediaOf(part);
    if (media === null) return [];
    const bytes = Buffer.from(media.data, "base64");
    if (bytes.length === 0) return [];
    const name = media.name ?? `${part.type}-${index + 1}${ENDINGS[media.mediaType] ?? ""}`;
    return [{ name, mediaType: media.mediaType, bytes, part }];
  });
}

type Media = { name?: string; mediaType: string; data: string };

function mediaOf(part: McpPart): Media | null {
  switch (part.type) {
    case "image":
    case "audio":
      return { mediaType: part.mediaType, data: part.data };
    case "resource": {
      // A text is read where it stands.
      if (part.data === undefined || part.text !== undefined) return null;
      const name = lastSegment(part.uri);
      const mediaType = part.mediaType ?? "application/octet-stream";
      return { mediaType, data: part.data, ...(name !== "" && { name }) };
    }
    case "text":
    case "resource-link":
    case "unknown":
      return null;
  }
}

/** Of `file:///notes/plan.pdf?x` it is `plan.pdf`; addresses may be of any scheme, or none. */
function lastSegment(uri: string): string {
  return (
    uri
      .replace(/[?#].*$/s, "")
      .split("/")
      .at(-1) ?? ""
  );
}
