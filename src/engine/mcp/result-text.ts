/** Text of an MCP tool's response for the model. Pure. */
import type { JsonObject } from "../../domain/common/json.js";
import type { McpCallAnswer, McpPart } from "../../mcp/types.js";
import { resultFiles } from "./result-files.js";

/**
 * Text unchanged; content that a tool result cannot carry is named, so that the model knows of it: media by their file
 * names in `resultFiles`.
 */
export function resultText({ parts, structuredContent }: McpCallAnswer): string {
  const hasText = parts.some((part) => part.type === "text" && part.text !== "");
  // Servers repeat the structured content as text, and should.
  const structured = hasText || structuredContent === undefined ? [] : [asJson(structuredContent)];
  const files = new Map(resultFiles(parts).map((file) => [file.part, file]));
  const texts = parts.map((part) => partText(part, files.get(part)));
  return [...texts, ...structured].filter((text) => text !== "").join("\n");
}

type NamedFile = { name: string; bytes: Uint8Array } | undefined;

function partText(part: McpPart, file: NamedFile): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "image":
    case "audio":
      return `[${part.type}: ${part.mediaType}, ${fileText(file)}]`;
    case "resource": {
      const kind = part.mediaType === undefined ? "" : ` (${part.mediaType})`;
      if (part.text !== undefined) return `[resource: ${part.uri}${kind}]\n${part.text}`;
      return `[resource: ${part.uri}${kind}${part.data === undefined ? "" : `, ${fileText(file)}`}]`;
    }
    case "resource-link": {
      const what = [part.name, part.description, part.mediaType].filter(
        (text) => text !== undefined && text !== "",
      );
      return `[resource link: ${[part.uri, ...what].join(", ")}]`;
    }
    case "unknown":
      return `[content of the unknown kind ${part.kind}, not shown]`;
  }
}

function fileText(file: NamedFile): string {
  return file === undefined ? "empty" : `${file.bytes.length} bytes, file ${file.name}`;
}

function asJson(content: JsonObject): string {
  return JSON.stringify(content);
}
