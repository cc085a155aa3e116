/**
 * One attempt at a model call as it is recorded: what the model was asked, in our words and not the vendor's, and what
 * came of it. Keys and headers are never part of it, files are told by their size, and what is too large loses its middle.
 * Pure.
 */
import type { ModelProviderKind } from "../../domain/common/failures.js";
import type { JsonObject, JsonValue } from "../../domain/common/json.js";
import type { ModelCallPurpose } from "../../domain/models/model-calls.js";
import type { ModelRequest } from "../../providers/types.js";
import type { ModelCallRecord } from "../../store/models/model-call-records.js";
import { capResult } from "../../engine/tools/cap-result.js";
import type { CallOutcome } from "../../engine/turn/call-model.js";

/** The prompt of a long chat; more says little about a single call. */
export const MAX_REQUEST_BYTES = 256 * 1024;
/** Most models can not say more at once. */
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

/** Names of options whose values may open something. */
const SECRETIVE = /key|token|secret|passw|auth|credential|header|cookie/i;
const HIDDEN = "[not recorded]";

export function recordOf(call: RecordedCall): ModelCallRecord {
  const { request, outcome, startedAt, provider, ...facts } = call;
  const [asked, answered] = [tellRequest(request), tellResponse(outcome)];
  const kept = {
    request: capResult(asked, MAX_REQUEST_BYTES),
    response: capResult(answered, MAX_RESPONSE_BYTES),
  };
  return {
    ...facts,
    provider,
    model: request.model,
    startedAt: new Date(startedAt),
    outcome: outcome.type,
    request: kept.request as JsonObject,
    response: kept.response as JsonObject,
    // What fits is given back as it is.
    isTruncated: kept.request !== asked || kept.response !== answered,
  };
}

function tellRequest({ headers: _headers, files, options, ...request }: ModelRequest): JsonObject {
  const told = {
    ...request,
    ...(options && { options: withoutSecrets(options) }),
    ...(files && { files: [...files].map(([fileId, bytes]) => ({ fileId, bytes: bytes.byteLength })) }),
  };
  return asJson(told);
}

function tellResponse(outcome: CallOutcome): JsonObject {
  const { parts, usage } = outcome;
  if (outcome.type === "failed") {
    const { failure, retryAfterMs = null, contextLimit = null } = outcome;
    return asJson({ parts, usage, failure, retryAfterMs, contextLimit });
  }
  if (outcome.type === "stopped") return asJson({ parts, usage });
  const { finishReason, responseId } = outcome;
  return asJson({ parts, usage, finishReason, responseId });
}

/** Admins write options, and some gateways want keys in them. */
function withoutSecrets(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      // A bound on tokens is no token.
      const isSecret = SECRETIVE.test(name) && typeof inner !== "number" && typeof inner !== "boolean";
      return [name, isSecret ? HIDDEN : withoutSecrets(inner)];
    }),
  );
}

/** A copy without anything that JSON does not have. */
function asJson(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}
