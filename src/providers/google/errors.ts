/**
 * Conversion of Google's SDK errors for `common/errors.ts`: the SDK keeps only a status and the body as text, so the
 * response's headers and the body's details (`google.rpc.*`) are restored. Pure.
 */
import type { JsonObject, JsonValue } from "../../domain/common/json.js";
import { STREAM_CUT_TEXT, StreamFailure } from "../common/errors.js";
import { isJsonObject } from "../common/prompt-parts.js";

/** Status and headers of an error response. */
export type Refusal = { status: number; headers: Headers };

/** An error with the fields that `toModelCallError` reads. */
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

/** `refusal` is undefined when the answer had begun. Other errors are returned unchanged. */
export function explainGoogleError(error: unknown, refusal: Refusal | undefined): unknown {
  if (!(error instanceof Error)) return error;
  if (error.message.startsWith("Incomplete JSON segment"))
    return new StreamFailure("econnreset", STREAM_CUT_TEXT);
  const body = bodyOf(error.message);
  if (body === undefined && refusal === undefined) return error;
  const errorBody = body ?? { message: error.message };
  const details = Array.isArray(errorBody.details) ? errorBody.details.filter(isJsonObject) : [];
  const message = typeof errorBody.message === "string" ? errorBody.message : error.message;
  const headers = new Headers(refusal?.headers);
  const delayMs = retryDelayMs(details);
  if (delayMs !== undefined && !headers.has("retry-after")) headers.set("retry-after-ms", String(delayMs));
  const type = typeOf(errorBody.status, message, details);
  const reason = details.map((detail) => detail.reason).find((it) => typeof it === "string");
  const facts: JsonObject = { message, ...(type ? { type } : {}), ...(reason ? { code: reason } : {}) };
  // Without the SDK's error as cause: it would repeat the status, and the whole body as its message.
  return new GoogleError(refusal?.status, headers, facts, undefined);
}

/** The SDK's message is the body itself, with a prefix when the error came within a stream. */
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
 * The vendor sends RESOURCE_EXHAUSTED, and mentions plan and billing, for two cases: the quota per minute, which is
 * worth a retry, and the quota per day or a plan without the model, which is not.
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
