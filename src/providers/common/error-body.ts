/**
 * Parser for vendors' error bodies of any shape. The SDKs read only `{"error": {"message", "type", "code"}}`;
 * compatible servers, gateways and frameworks have a dozen other shapes. Pure.
 */
import { isJsonObject } from "./prompt-parts.js";

/** Read limit of an error body: enough for messages with the request ids and traces of gateways. */
export const MAX_ERROR_BODY_BYTES = 64 * 1024;
/** Reported problems of a validation. */
const MAX_LISTED_PROBLEMS = 3;

/** `code`: a vendor's identifier, or the status as text or number. */
export type ErrorFacts = { message: string; type?: string; code?: string | number };

/**
 * The body converted to the shape that the SDKs read, with its own fields preserved; undefined when it has that shape
 * already, is not JSON or has no message.
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

/** The error of the provider behind OpenRouter, which is more specific than the router's "Provider returned error". */
export function upstreamError(error: Record<string, unknown>): ErrorFacts | undefined {
  const raw = isJsonObject(error["metadata"]) ? error["metadata"]["raw"] : undefined;
  if (isJsonObject(raw)) return errorFactsOf(raw);
  if (typeof raw !== "string" || raw.trim() === "") return undefined;
  const body = parse(raw);
  return isJsonObject(body) ? errorFactsOf(body) : { message: raw };
}

/** The message of an error body, or the whole text when it is not JSON; perhaps empty. */
export function errorMessageIn(text: string): string {
  const body = parse(text);
  const whole: unknown = Array.isArray(body) ? body[0] : body;
  if (isJsonObject(whole)) return errorFactsOf(whole)?.message ?? "";
  return typeof whole === "string" ? whole : text;
}

/**
 * The shapes of vLLM and NVIDIA (fields at the top), Ollama (`error` is a text), FastAPI (`detail` is a text or a list
 * of problems), Kong and AWS (`message`), JSON:API and GraphQL-like ones (`errors`), RFC 9457 (`title`, `detail`),
 * OAuth (`error_description`) and Apigee (`fault`).
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

/** A list of problems as one sentence, without `input`, which repeats what was sent. */
function listed(value: unknown): unknown {
  if (!Array.isArray(value)) return isJsonObject(value) ? (value["message"] ?? value["msg"]) : value;
  const problems = value.slice(0, MAX_LISTED_PROBLEMS).map((problem: unknown) => {
    if (!isJsonObject(problem)) return typeof problem === "string" ? problem : "";
    const message = problem["msg"] ?? problem["message"] ?? problem["detail"] ?? "";
    const path = Array.isArray(problem["loc"]) ? problem["loc"].map(String).join(".") : "";
    return `${path === "" ? "" : `${path}: `}${typeof message === "string" ? message : ""}`;
  });
  return problems.filter((text) => text !== "").join("; ");
}

function parse(text: string): unknown {
  if (!/^\s*[[{"]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
