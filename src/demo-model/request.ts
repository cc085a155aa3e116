/** What the demo model knows of a request, whichever vendor's format it came in. */
import type { JsonObject, JsonValue } from "../domain/common/json.js";

const WIRE_NAMES = ["anthropic", "openai-responses", "openai-chat", "google", "bedrock"] as const;
export type WireName = (typeof WIRE_NAMES)[number];

export type DemoToolCall = { id: string; name: string; arguments: JsonObject };
export type DemoToolResult = { id: string; text: string; isError: boolean };

export type DemoTurn =
  | { role: "user"; text: string }
  | { role: "assistant"; text: string; calls: DemoToolCall[] }
  | { role: "results"; results: DemoToolResult[] };

export type DemoRequest = {
  wire: WireName;
  model: string;
  isStreaming: boolean;
  /** Chat Completions sends usage only on demand. */
  wantsUsage: boolean;
  system: string;
  tools: { name: string; inputSchema: JsonObject }[];
  turns: DemoTurn[];
  /** Lower-case names. */
  headers: Record<string, string>;
  /** The body as it came, for tests that look at every field. */
  body: JsonObject;
  /** Length of the body, from which token counts are guessed. */
  sizeCharacters: number;
};

/** The text of the last user message; empty when there is none. */
export function lastUserText({ turns }: Pick<DemoRequest, "turns">): string {
  const turn = turns.findLast(({ role }) => role === "user");
  return turn?.role === "user" ? turn.text : "";
}

/** Lenient readers for vendor JSON: what is not there is empty. */
export function objectOf(value: unknown): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

export function objectsOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}

export function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

/** A string, or the texts of a list of content blocks, one per line. */
export function contentText(content: JsonValue | undefined): string {
  if (typeof content === "string") return content;
  return objectsOf(content)
    .flatMap(({ text }) => (typeof text === "string" ? [text] : []))
    .join("\n");
}

/** Arguments as the history carries them: an object, or its JSON. */
export function argumentsOf(value: JsonValue | undefined): JsonObject {
  if (typeof value !== "string") return objectOf(value);
  try {
    return objectOf(JSON.parse(value));
  } catch {
    return {};
  }
}

/** OpenAI has no flag for failed calls; by convention the output is an object with an `error`. */
export function isErrorOutput(output: string): boolean {
  return "error" in argumentsOf(output);
}
