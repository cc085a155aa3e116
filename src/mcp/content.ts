/** Maps the result of an MCP call to our parts. Pure; content of an unknown type becomes an `unknown` part. */
import { z } from "zod";
import type { JsonObject } from "../domain/common/json.js";
import { isDeeper } from "./depth.js";
import type { McpCallAnswer, McpPart } from "./types.js";

/** Nesting depth that can be serialized again without exhausting the stack. */
const MAX_CONTENT_DEPTH = 200;

/** Lenient, so that one invalid item does not fail the result. `toolResult` is the form of servers before 2024-11. */
export const callResultSchema = z.looseObject({
  content: z.array(z.unknown()).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().default(false),
  toolResult: z.unknown().optional(),
});

const text = z.object({ type: z.literal("text"), text: z.string() });
const media = z.object({
  type: z.enum(["image", "audio"]),
  data: z.string(),
  mimeType: z.string().default("application/octet-stream"),
});
const resource = z.object({
  type: z.literal("resource"),
  resource: z.object({
    uri: z.string(),
    mimeType: z.string().optional(),
    text: z.string().optional(),
    blob: z.string().optional(),
  }),
});
const link = z.object({
  type: z.literal("resource_link"),
  uri: z.string(),
  name: z.string().default(""),
  description: z.string().optional(),
  mimeType: z.string().optional(),
});
const anything = z.looseObject({ type: z.string() });

export function callAnswerOf(result: z.infer<typeof callResultSchema>): McpCallAnswer {
  const { structuredContent, toolResult, isError } = result;
  const parts = result.content.map(partOf);
  if (parts.length === 0 && toolResult !== undefined && !isDeeper(toolResult, MAX_CONTENT_DEPTH)) {
    parts.push({ type: "text", text: JSON.stringify(toolResult) ?? "" });
  }
  if (isDeeper(structuredContent, MAX_CONTENT_DEPTH)) {
    return { parts: [...parts, { type: "unknown", kind: "structured, nested too deeply" }], isError };
  }
  return { parts, ...(isJsonObject(structuredContent) && { structuredContent }), isError };
}

function partOf(content: unknown): McpPart {
  const asText = text.safeParse(content);
  if (asText.success) return asText.data;
  const asMedia = media.safeParse(content);
  if (asMedia.success) {
    const { type, data, mimeType } = asMedia.data;
    return { type, data, mediaType: mimeType };
  }
  const asResource = resource.safeParse(content);
  if (asResource.success) {
    const { uri, mimeType, blob } = asResource.data.resource;
    return { type: "resource", uri, mediaType: mimeType, text: asResource.data.resource.text, data: blob };
  }
  const asLink = link.safeParse(content);
  if (asLink.success) {
    const { uri, name, description, mimeType } = asLink.data;
    return { type: "resource-link", uri, name, description, mediaType: mimeType };
  }
  const other = anything.safeParse(content);
  return { type: "unknown", kind: other.success ? other.data.type : "nameless" };
}

/** It was parsed from JSON, so its values are JSON. */
function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
