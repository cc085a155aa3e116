/** What a tool server's tool answered, as a model reads it. Pure. */
import type { JsonObject } from "../../domain/json.js";
import type { McpCallAnswer, McpPart } from "../../workspaces/agent-connection.js";

/** Text as it is; whatever a tool result cannot carry is named, so that the model knows that it was there. */
export function resultText({ parts, structuredContent }: McpCallAnswer): string {
  const hasText = parts.some((part) => part.type === "text" && part.text !== "");
  // Servers repeat the structured content as text, and should.
  const structured = hasText || structuredContent === undefined ? [] : [asJson(structuredContent)];
  return [...parts.map(partText), ...structured].filter((text) => text !== "").join("\n");
}

function partText(part: McpPart): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "image":
    case "audio":
      return `[${part.type}: ${part.mediaType}, ${bytesOf(part.data)}, not shown]`;
    case "resource": {
      const kind = part.mediaType === undefined ? "" : ` (${part.mediaType})`;
      if (part.text !== undefined) return `[resource: ${part.uri}${kind}]\n${part.text}`;
      const size = part.data === undefined ? "" : `, ${bytesOf(part.data)}, not shown`;
      return `[resource: ${part.uri}${kind}${size}]`;
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

function bytesOf(base64: string): string {
  return `${Buffer.byteLength(base64, "base64")} bytes`;
}

function asJson(content: JsonObject): string {
  return JSON.stringify(content);
}
