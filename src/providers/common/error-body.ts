/**
 * What a vendor's error body says, whatever its shape. The SDKs read one shape, `{"error": {"message", "type", "code"}}`,
 * and lose what others say; compatible servers, gateways and frameworks have a dozen. Pure.
 */
import { isJsonObject } from "./prompt-parts.js";

/** Of an error body, so much is read: whole sentences with room for the request ids and traces of gateways. */
export const MAX_ERROR_BODY_BYTES = 64 * 1024;
/** Problems of a validation that are passed on. */
const MAX_LISTED_PROBLEMS = 3;

/** `code`: a vendor's word, or the status as text or number. */
export type ErrorFacts = { message: string; type?: string; code?: string | number };

/**
 * The same body in the shape that the SDKs read; undefined when it has that shape, is no JSON or says nothing.
 * Its own fields stay beside it.
 */
export function reshapeErrorBody(text: string): string | undefined {
  const whole = parse(text);
  // Google's gateways answer with a list of one.
  const body: unknown = Array.isArray(whole) ? whole[0] : whole;
  if (!isJsonObject(body)) return undefined;
  const inner = body["error"];
  const behind = isJsonObject(inner) ? upstreamError(inner) : undefined;
  const isReadable = isJsonObject(inner) && typeof inner["message"] === "string";
  if (isReadable && behind === undefined) return body === whole ? undefined : JSON.stringify(body);
  const facts = { ...errorFactsOf(body), ...behind };
  return facts.message === undefined ? undefined : JSON.stringify({ ...body, error: facts });
}

/** What a provider behind OpenRouter said, as text or as its body: more than the router's "Provider returned error". */
export function upstreamError(error: Record<string, unknown>): ErrorFacts | undefined {
  const raw = isJsonObject(error["metadata"]) ? error["metadata"]["raw"] : undefined;
  if (isJsonObject(raw)) return errorFactsOf(raw);
  if (typeof raw !== "string" || raw.trim() === "") return undefined;
  const body = parse(raw);
  return isJsonObject(body) ? errorFactsOf(body) : { message: raw };
}

/** The sentence of an error body, or the whole text when it is none; empty when there is nothing to say. */
export function errorMessageIn(text: string): string {
  const body = parse(text);
  const whole: unknown = Array.isArray(body) ? body[0] : body;
  if (isJsonObject(whole)) return errorFactsOf(whole)?.message ?? "";
  return typeof whole === "string" ? whole : text;
}

/**
 * The shapes of vLLM and NVIDIA (fields at the top), Ollama (`error` is a text), FastAPI (`detail` is a text or a list of
 * problems), Kong and AWS (`message`), JSON:API and GraphQL-like ones (`errors`), RFC 9457 (`title`, `detail`), OAuth
 * (`error_description`) and Apigee (`fault`).
 */
export function errorFactsOf(body: Record<string, unknown>): ErrorFacts | undefined {
  const inner = body["error"];
  const source = isJsonObject(inner) ? inner : body;
  const candidates = [
    ...["message", "Message", "msg", "error_description"].map((name) => source[name]),
    listed(source["detail"]),
    listed(body["errors"]),
    isJsonObject(body["fault"]) ? body["fault"]["faultstring"] : undefined,
    inner,
    source["title"],
  ];
  const message = candidates.find((it) => typeof it === "string" && it.trim() !== "");
  if (typeof message !== "string") return undefined;
  const { type, code } = source;
  return {
    message,
    ...(typeof type === "string" ? { type } : {}),
    ...(typeof code === "string" || typeof code === "number" ? { code } : {}),
  };
}

/** A list of problems as one sentence. What was sent stands in some of them as `input`; it is left out. */
function listed(value: unknown): unknown {
  if (!Array.isArray(value)) return isJsonObject(value) ? (value["message"] ?? value["msg"]) : value;
  const problems = value.slice(0, MAX_LISTED_PROBLEMS).map((problem: unknown) => {
    if (!isJsonObject(problem)) return typeof problem === "string" ? problem : "";
    const words = problem["msg"] ?? problem["message"] ?? problem["detail"] ?? "";
    const place = Array.isArray(problem["loc"]) ? problem["loc"].map(String).join(".") : "";
    return `${place === "" ? "" : `${place}: `}${typeof words === "string" ? words : ""}`;
  });
  return problems.filter((words) => words !== "").join("; ");
}

function parse(text: string): unknown {
  if (!/^\s*[[{"]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
