/**
 * Reasoning in Chat Completions, which OpenAI's own format does not have: compatible servers send it under names of
 * their own, and some (DeepSeek, OpenRouter, Moonshot) want it back under the same name. Pure; the gatherer keeps what
 * it needs of one call.
 */
import type { JsonObject, JsonValue } from "../../domain/common/json.js";
import type { ProviderSettings, PromptMessage } from "../types.js";
import { isJsonObject, ownMetadata, wellFormed } from "../common/prompt-parts.js";

/** vLLM, DeepSeek and others say `reasoning_content`; OpenRouter, Groq and Ollama `reasoning`. */
const TEXT_FIELDS = ["reasoning_content", "reasoning"] as const;
type TextField = (typeof TEXT_FIELDS)[number];

/** What an assistant message may carry besides the fields of OpenAI's. */
export type ReasoningFields = {
  reasoning_content?: string;
  reasoning?: string;
  reasoning_details?: JsonObject[];
};

/**
 * The name of a compatible server, kept with the reasoning it gave: another server must not be sent it, as strict
 * ones refuse fields that they do not know. Undefined for all other providers.
 */
export function reasoningOrigin({ kind, baseUrl }: ProviderSettings): string | undefined {
  if (kind !== "openai_compatible" || baseUrl === undefined) return undefined;
  return URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl;
}

/** What one chunk says of the model's thinking. */
export type ReasoningDelta = { text: string; field: TextField | undefined; details: JsonObject[] };

export function readReasoning(delta: object): ReasoningDelta {
  const given: unknown = Reflect.get(delta, "reasoning_details");
  const details = Array.isArray(given) ? given.filter(isJsonObject) : [];
  for (const field of TEXT_FIELDS) {
    const text: unknown = Reflect.get(delta, field);
    if (typeof text === "string" && text !== "") return { text, field, details };
  }
  return { text: details.map(wordsOf).join(""), field: undefined, details };
}

/** Details arrive in pieces; those of one block, by its index and type, are one again. */
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

  /** What the server wants back with the reasoning so far; begins anew. */
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
 * How each assistant message of a history carries its reasoning back to the server that gave it. Once a server has
 * told its thinking as `reasoning_content` it gets that field with every assistant message, empty where there is
 * none: DeepSeek refuses a history in which one is missing. `isWantedEverywhere`: it has just done so.
 */
export function replayedReasoning(
  messages: PromptMessage[],
  { origin, isWantedEverywhere }: { origin: string | undefined; isWantedEverywhere: boolean },
): (message: PromptMessage) => ReasoningFields {
  if (origin === undefined) return () => ({});
  const found = new Map(messages.map((message) => [message, ownReasoning(message, origin)]));
  const isWanted =
    isWantedEverywhere || [...found.values()].some((fields) => fields.reasoning_content !== undefined);
  return (message) => {
    const fields = found.get(message) ?? {};
    return isWanted && Object.keys(fields).length === 0 ? { reasoning_content: "" } : fields;
  };
}

/**
 * Whether a server refused a history because a message in it has no reasoning: DeepSeek, of a chat that another
 * vendor's model began. Such words can only be left empty.
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

function wordsOf(detail: JsonObject): string {
  if (typeof detail.text === "string") return detail.text;
  return typeof detail.summary === "string" ? detail.summary : "";
}

/** Encrypted blocks are whole; text and summaries grow. A field that comes later (a signature) joins the rest. */
function joinDetails(before: JsonObject, after: JsonObject): JsonObject | undefined {
  if (before.type !== after.type || before.index !== after.index || after.index === undefined)
    return undefined;
  const field =
    after.type === "reasoning.text" ? "text" : after.type === "reasoning.summary" ? "summary" : undefined;
  if (field === undefined) return undefined;
  const said = Object.entries(after).filter(([, value]) => value !== null);
  return { ...before, ...Object.fromEntries(said), [field]: joinTexts(before[field], after[field]) };
}

function joinTexts(before: JsonValue | undefined, after: JsonValue | undefined): string {
  return `${typeof before === "string" ? before : ""}${typeof after === "string" ? after : ""}`;
}
