/** Files in an MCP tool's response: images, audio and other binary content. Pure. */
import type { ToolFile } from "../../domain/chats/tool-outcome.js";
import type { McpPart } from "../../mcp/types.js";

/** File extensions of the most usual media types; others get names without one. */
const EXTENSIONS: Readonly<Record<string, string>> = {
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

/** Each with its part; empty parts are left out. Media types are the server's own. */
export function resultFiles(parts: readonly McpPart[]): (ToolFile & { part: McpPart })[] {
  return parts.flatMap((part, index) => {
    const media = mediaOf(part);
    if (media === null) return [];
    const bytes = Buffer.from(media.data, "base64");
    if (bytes.length === 0) return [];
    const name = media.name ?? `${part.type}-${index + 1}${EXTENSIONS[media.mediaType] ?? ""}`;
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
      // Text is part of the result itself.
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

/** `plan.pdf` for `file:///notes/plan.pdf?x`; URIs may have any scheme, or none. */
function lastSegment(uri: string): string {
  return (
    uri
      .replace(/[?#].*$/s, "")
      .split("/")
      .at(-1) ?? ""
  );
}
