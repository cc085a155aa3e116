/**
 * Reasoning in Chat Completions, which OpenAI's own format lacks: compatible servers send it in fields of their own,
 * and some (DeepSeek, OpenRouter, Moonshot) require it back in the same field. Pure, except for the accumulator of one
 * call.
 */
import type { JsonObject, JsonValue } from "../../domain/common/json.js";
import type { ProviderSettings, PromptMessage } from "../types.js";
import { isJsonObject, ownMetadata, wellFormed } from "../common/prompt-parts.js";

/** vLLM, DeepSeek and others use `reasoning_content`; OpenRouter, Groq and Ollama `reasoning`. */
const TEXT_FIELDS = ["reasoning_content", "reasoning"] as const;
type TextField = (typeof TEXT_FIELDS)[number];

/** Fields of an assistant message besides OpenAI's. */
export type ReasoningFields = {
  reasoning_content?: string;
  reasoning?: string;
  reasoning_details?: JsonObject[];
};

/**
 * The name of a compatible server, stored with its reasoning: it must not be sent to another server, as strict ones
 * refuse unknown fields. Undefined for all other providers.
 */
export function reasoningOrigin({ kind, baseUrl }: ProviderSettings): string | undefined {
  if (kind !== "openai_compatible" || baseUrl === undefined) return undefined;
  return URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl;
}

/** The reasoning of one chunk. */
export type ReasoningDelta = { text: string; field: TextField | undefined; details: JsonObject[] };

export function readReasoning(delta: object): ReasoningDelta {
  const value: unknown = Reflect.get(delta, "reasoning_details");
  const details = Array.isArray(value) ? value.filter(isJsonObject) : [];
  for (const field of TEXT_FIELDS) {
    const text: unknown = Reflect.get(delta, field);
    if (typeof text === "string" && text !== "") return { text, field, details };
  }
  return { text: details.map(detailText).join(""), field: undefined, details };
}

/** Joins reasoning details, which arrive as deltas, by their block's index and type. */
export class ReasoningAccumulator {
  #details: JsonObject[] = [];
  #field: TextField | undefined;

  add({ field, details }: ReasoningDelta): void {
    this.#field ??= field;
    for (const detail of details) {
      const last = this.#details.at(-1);
      const joined = last === undefined ? undefined : joinDetails(last, detail);
      if (joined === undefined) this.#details.push(detail);
      else this.#details[this.#details.length - 1] = joined;
    }
  }

  get hasDetails(): boolean {
    return this.#details.length > 0;
  }

  /** The metadata that the server requires back with the reasoning so far; resets the accumulator. */
  take(origin: string | undefined): JsonObject | undefined {
    const details = this.#details;
    const field = this.#field;
    this.#details = [];
    this.#field = undefined;
    if (origin === undefined) return undefined;
    if (details.length > 0) return { openai_compatible: { origin, details } };
    return field === undefined ? undefined : { openai_compatible: { origin, field } };
  }
}

/**
 * The reasoning fields of each assistant message for the server that sent them. A server that has sent
 * `reasoning_content` gets that field with every assistant message, empty where there is none: DeepSeek refuses a
 * history in which one is missing. `isRequiredEverywhere`: it has just done so.
 */
export function replayedReasoning(
  messages: PromptMessage[],
  { origin, isRequiredEverywhere }: { origin: string | undefined; isRequiredEverywhere: boolean },
): (message: PromptMessage) => ReasoningFields {
  if (origin === undefined) return () => ({});
  const found = new Map(messages.map((message) => [message, ownReasoning(message, origin)]));
  const isWanted =
    isRequiredEverywhere || [...found.values()].some((fields) => fields.reasoning_content !== undefined);
  return (message) => {
    const fields = found.get(message) ?? {};
    return isWanted && Object.keys(fields).length === 0 ? { reasoning_content: "" } : fields;
  };
}

/**
 * Whether a server refused a history because a message has no reasoning: DeepSeek, for a chat that another vendor's
 * model began. The missing reasoning can only be left empty.
 */
export function requiresReasoning(error: unknown): boolean {
  if (!(error instanceof Error) || Reflect.get(error, "status") !== 400) return false;
  return /reasoning_content/.test(error.message) && /missing|must be passed back/i.test(error.message);
}

function ownReasoning({ role, parts }: PromptMessage, origin: string): ReasoningFields {
  if (role !== "assistant") return {};
  const fields: ReasoningFields = {};
  for (const part of parts) {
    if (part.type !== "reasoning") continue;
    const own = ownMetadata(part.providerMetadata, "openai_compatible");
    if (own.origin !== origin) continue;
    if (Array.isArray(own.details))
      fields.reasoning_details = [...(fields.reasoning_details ?? []), ...own.details.filter(isJsonObject)];
    const field = TEXT_FIELDS.find((name) => name === own.field);
    if (field !== undefined) fields[field] = `${fields[field] ?? ""}${wellFormed(part.text)}`;
  }
  return fields;
}

function detailText(detail: JsonObject): string {
  if (typeof detail.text === "string") return detail.text;
  return typeof detail.summary === "string" ? detail.summary : "";
}

/** Encrypted blocks are whole; text and summaries are deltas. Later fields (a signature) are merged. */
function joinDetails(before: JsonObject, after: JsonObject): JsonObject | undefined {
  if (before.type !== after.type || before.index !== after.index || after.index === undefined)
    return undefined;
  const field =
    after.type === "reasoning.text" ? "text" : after.type === "reasoning.summary" ? "summary" : undefined;
  if (field === undefined) return undefined;
  const present = Object.entries(after).filter(([, value]) => value !== null);
  return { ...before, ...Object.fromEntries(present), [field]: joinTexts(before[field], after[field]) };
}

function joinTexts(before: JsonValue | undefined, after: JsonValue | undefined): string {
  return `${typeof before === "string" ? before : ""}${typeof after === "string" ? after : ""}`;
}
