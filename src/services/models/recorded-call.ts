/**
 * Record of one model call: the request and the outcome in our own format, not the vendor's. Keys and headers are never
 * part of it, files are represented by their size, and texts that are too large lose their middle. Pure.
 */
import type { ModelProviderKind } from "../../domain/common/failures.js";
import type { JsonObject, JsonValue } from "../../domain/common/json.js";
import type { ModelCallPurpose } from "../../domain/models/model-calls.js";
import type { ModelRequest } from "../../providers/types.js";
import type { ModelCallRecord } from "../../store/models/model-call-records.js";
import { capResult } from "../../engine/tools/cap-result.js";
import type { CallOutcome } from "../../engine/turn/call-model.js";

/** The prompt of a long chat; more is of little use for a single call. */
export const MAX_REQUEST_BYTES = 256 * 1024;
/** Above the output limit of most models. */
export const MAX_RESPONSE_BYTES = 128 * 1024;

export type RecordedCall = {
  chatId: string;
  generation: string | null;
  attempt: number;
  purpose: ModelCallPurpose;
  provider: ModelProviderKind;
  request: ModelRequest;
  outcome: CallOutcome;
  /** Milliseconds since the epoch. */
  startedAt: number;
  firstPartMs: number | null;
  durationMs: number;
};

/** Names of options whose values may be credentials. */
const SECRET_NAME = /key|token|secret|passw|auth|credential|header|cookie/i;
const HIDDEN = "[not recorded]";

export function recordOf(call: RecordedCall): ModelCallRecord {
  const { request, outcome, startedAt, provider, ...facts } = call;
  const [asked, answered] = [describeRequest(request), describeResponse(outcome)];
  const capped = {
    request: capResult(asked, MAX_REQUEST_BYTES),
    response: capResult(answered, MAX_RESPONSE_BYTES),
  };
  return {
    ...facts,
    provider,
    model: request.model,
    startedAt: new Date(startedAt),
    outcome: outcome.type,
    request: capped.request as JsonObject,
    response: capped.response as JsonObject,
    // capResult returns the same object when it fits.
    isTruncated: capped.request !== asked || capped.response !== answered,
  };
}

function describeRequest({ headers: _headers, files, options, ...request }: ModelRequest): JsonObject {
  const described = {
    ...request,
    ...(options && { options: withoutSecrets(options) }),
    ...(files && { files: [...files].map(([fileId, bytes]) => ({ fileId, bytes: bytes.byteLength })) }),
  };
  return asJson(described);
}

function describeResponse(outcome: CallOutcome): JsonObject {
  const { parts, usage } = outcome;
  if (outcome.type === "failed") {
    const { failure, retryAfterMs = null, contextLimit = null } = outcome;
    return asJson({ parts, usage, failure, retryAfterMs, contextLimit });
  }
  if (outcome.type === "stopped") return asJson({ parts, usage });
  const { finishReason, responseId } = outcome;
  return asJson({ parts, usage, finishReason, responseId });
}

/** Options are entered by admins, and some gateways need keys in them. */
function withoutSecrets(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      // A limit on tokens is not a secret.
      const isSecret = SECRET_NAME.test(name) && typeof inner !== "number" && typeof inner !== "boolean";
      return [name, isSecret ? HIDDEN : withoutSecrets(inner)];
    }),
  );
}

/** A copy without anything that JSON cannot represent. */
function asJson(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}
