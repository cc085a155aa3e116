/**
 * Makes the errors of Google's SDK readable for `errors.ts`: the SDK keeps only a status and the body as text, so
 * the reply's headers and the body's details (`google.rpc.*`) are put back in their places. Pure.
 */
import type { JsonObject, JsonValue } from "../../domain/common/json.js";
import { STREAM_CUT_TEXT, StreamFailure } from "../common/errors.js";
import { isJsonObject } from "../common/prompt-parts.js";

/** What was seen of a reply that was no answer. */
export type Refusal = { status: number; headers: Headers };

/** An error with the fields that `toModelCallError` looks for. */
class GoogleError extends Error {
  override readonly name = "GoogleError";

  constructor(
    /** Absent for an error in the middle of a stream, whose status was 200. */
    readonly status: number | undefined,
    readonly headers: Headers,
    /** `{message, code, type}`; codes are lower-case words. */
    readonly error: JsonObject,
    cause: unknown,
  ) {
    super(typeof error.message === "string" ? error.message : "", { cause });
  }
}

/** `refusal` is undefined when the vendor had begun to answer. Errors of other makers come back as they are. */
export function explainGoogleError(error: unknown, refusal: Refusal | undefined): unknown {
  if (!(error instanceof Error)) return error;
  if (error.message.startsWith("Incomplete JSON segment"))
    return new StreamFailure("econnreset", STREAM_CUT_TEXT);
  const body = bodyOf(error.message);
  if (body === undefined && refusal === undefined) return error;
  const told = body ?? { message: error.message };
  const details = Array.isArray(told.details) ? told.details.filter(isJsonObject) : [];
  const message = typeof told.message === "string" ? told.message : error.message;
  const headers = new Headers(refusal?.headers);
  const delayMs = retryDelayMs(details);
  if (delayMs !== undefined && !headers.has("retry-after")) headers.set("retry-after-ms", String(delayMs));
  const type = typeOf(told.status, message, details);
  const reason = details.map((detail) => detail.reason).find((it) => typeof it === "string");
  const facts: JsonObject = { message, ...(type ? { type } : {}), ...(reason ? { code: reason } : {}) };
  // The SDK's own error would tell its status, and the whole body as a message, once more.
  return new GoogleError(refusal?.status, headers, facts, undefined);
}

/** The SDK's message is the body itself, after a few words of its own when the error came within a stream. */
function bodyOf(text: string): JsonObject | undefined {
  const start = text.search(/[[{]/);
  if (start < 0) return undefined;
  try {
    const parsed: JsonValue = JSON.parse(text.slice(start));
    // Some gateways answer with a list of one.
    const body = Array.isArray(parsed) ? parsed[0] : parsed;
    return isJsonObject(body) && isJsonObject(body.error) ? body.error : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The vendor says RESOURCE_EXHAUSTED, and speaks of plan and billing, for two things: too much in this minute, which
 * passes, and a used-up day or a plan without the model, which does not.
 */
function typeOf(status: JsonValue | undefined, message: string, details: JsonObject[]): string | undefined {
  if (typeof status !== "string") return undefined;
  if (status !== "RESOURCE_EXHAUSTED") return status;
  const quotaIds = details
    .flatMap(({ violations }) => (Array.isArray(violations) ? violations.filter(isJsonObject) : []))
    .map(({ quotaId }) => (typeof quotaId === "string" ? quotaId : ""));
  const isUsedUp = quotaIds.some((id) => id.includes("PerDay")) || /\blimit: 0\b/.test(message);
  return isUsedUp ? "insufficient_quota" : status;
}

/** `google.rpc.RetryInfo` has seconds with a unit: `{"retryDelay": "3.5s"}`. */
function retryDelayMs(details: JsonObject[]): number | undefined {
  for (const { retryDelay } of details) {
    const [, seconds] = typeof retryDelay === "string" ? (/^(\d+(?:\.\d+)?)s$/.exec(retryDelay) ?? []) : [];
    if (seconds !== undefined) return Math.ceil(Number(seconds) * 1_000);
  }
  return undefined;
}
