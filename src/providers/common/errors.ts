/** Conversion of every error of an SDK, the network or the watchdog into a `ModelCallError`. */
import { type ChatFailure, type FailureKind, ModelCallError } from "../../domain/common/failures.js";
import { AddressFailure, displayAddress } from "./address-failure.js";
import { contextLimitIn } from "./context-limit.js";
import { upstreamError, errorFactsOf } from "./error-body.js";
import { type ErrorEvidence, classifyError, classifyOutputRefusal } from "./error-rules.js";
import { OutboundRefused } from "../../lib/outbound/refused.js";
import { parsePositive, readRetryAfter } from "../../lib/retry-after.js";
import { isJsonObject } from "./prompt-parts.js";
import type { ProviderSettings } from "../types.js";
import { sanitizeVendorMessage } from "./vendor-messages.js";
import { SilenceError } from "./watchdog.js";

/** Part of a message that is searched for known wordings. */
const SEARCHED_CHARACTERS = 4_000;
/** Depth of inspected `cause` chains. */
const CAUSE_DEPTH_LIMIT = 5;

/** A failure that arrives inside a stream, where the SDK does not throw by itself (`response.failed`). */
export class StreamFailure extends Error {
  override readonly name = "StreamFailure";
  /** The message is the vendor's own sentence, not ours. */
  readonly isVendors: boolean;

  constructor(
    readonly code: string,
    message: string,
    { isVendors = false, ...options }: { isVendors?: boolean; cause?: unknown } = {},
  ) {
    super(message, options);
    this.isVendors = isVendors;
  }
}

/** The stream ended although the vendor had not finished. */
export const STREAM_CUT_TEXT = "the connection closed before the answer was complete";

/** `isVendors`: the message is the vendor's own, not an SDK's or the network's. */
type Facts = { evidence: ErrorEvidence; message: string; isVendors: boolean; headers: Headers | undefined };

/** Classifies `error`; a `ModelCallError` passes through. `nowMs` turns a `retry-after` date into a wait. */
export function toModelCallError(error: unknown, settings: ProviderSettings, nowMs: number): ModelCallError {
  if (error instanceof ModelCallError) return error;
  if (error instanceof SilenceError) return silenceToModelCallError(error, settings);
  const refused = causeChain(error).find(isOutboundRefused);
  if (refused !== undefined) return blockedError(refused, settings);
  const addressFailure = causeChain(error).find((link) => link instanceof AddressFailure);
  if (addressFailure !== undefined) return addressError(addressFailure, settings);
  const facts = collectFacts(error);
  const { kind, isRetryable, outputRefusal } = classifyOutputRefusal(
    classifyError(facts.evidence),
    facts.evidence,
  );
  const httpStatus = statusOf(error);
  const detail = sanitizeVendorMessage(facts.message, settings.apiKey);
  const description = describeFailure(kind, settings.displayName, httpStatus);
  const failure: ChatFailure = {
    kind,
    message: facts.isVendors && detail !== "" ? `${description} It says: ${detail}` : description,
    ...(detail === "" ? {} : { detail }),
    provider: settings.kind,
    isRetryable,
    ...(httpStatus === undefined ? {} : { httpStatus }),
  };
  const contextLimit =
    kind === "context_too_large" ? (outputRefusal?.window ?? contextLimitIn(facts.evidence.text)) : undefined;
  return new ModelCallError(failure, parseRetryAfter(facts.headers, nowMs), {
    cause: error,
    ...(contextLimit === undefined ? {} : { contextLimit }),
    ...(outputRefusal === undefined ? {} : { outputRefusal }),
  });
}

/** Whether the guard of outgoing requests has refused the request. */
function isOutboundRefused(error: unknown): error is OutboundRefused {
  return error instanceof OutboundRefused;
}

/** Whether the error was thrown by our own fetch below the SDK, and needs no further explanation. */
export function isOwnError(error: unknown): error is OutboundRefused | AddressFailure {
  return isOutboundRefused(error) || error instanceof AddressFailure;
}

/** The failure of a request that was not sent. Not worth a retry. */
function blockedError(refused: OutboundRefused, { kind, displayName }: ProviderSettings): ModelCallError {
  const message = `${displayName} is not asked: ${refused.message}`;
  return new ModelCallError({ kind: "config", message, provider: kind, isRetryable: false }, undefined, {
    cause: refused,
  });
}

/** The failure of a wrong address; its message names the setting to check. */
function addressError(addressFailure: AddressFailure, settings: ProviderSettings): ModelCallError {
  const { kind, displayName, baseUrl, addressVariable } = settings;
  const { reason, isRetryable, httpStatus } = addressFailure;
  const address = baseUrl === undefined ? "its own address" : displayAddress(baseUrl);
  const where =
    addressVariable === undefined
      ? `the base URL of the provider "${displayName}" in the administration`
      : addressVariable;
  const cure = baseUrl === undefined ? `this server's network, or set ${where}` : where;
  const failure: ChatFailure = {
    kind: "config",
    message: `Parley cannot reach ${address} (${displayName}): ${reason}. Check ${cure}.`,
    provider: kind,
    isRetryable,
    ...(httpStatus === undefined ? {} : { httpStatus }),
  };
  return new ModelCallError(failure, undefined, { cause: addressFailure });
}

/** The failure of a provider that has no key to call with. */
export function missingKeyError(settings: ProviderSettings): ModelCallError {
  const message = describeFailure("missing_key", settings.displayName, undefined);
  return new ModelCallError(
    { kind: "missing_key", message, provider: settings.kind, isRetryable: false },
    undefined,
  );
}

/**
 * The vendor's retry delay, in milliseconds: `retry-after-ms` takes precedence over `retry-after` (seconds or an HTTP
 * date). Undefined when there is none or it is invalid; a date in the past counts as none.
 */
export function parseRetryAfter(headers: Headers | undefined, nowMs: number): number | undefined {
  const milliseconds = parsePositive(headers?.get("retry-after-ms"));
  if (milliseconds !== undefined) return Math.ceil(milliseconds);
  const wait = readRetryAfter(headers?.get("retry-after"), nowMs);
  return wait === undefined || wait < 0 ? undefined : wait;
}

/** The message for users: the provider, what happened and, if useful, what to do. */
export function describeFailure(kind: FailureKind, name: string, httpStatus: number | undefined): string {
  const status = httpStatus === undefined ? "" : ` (HTTP ${httpStatus})`;
  switch (kind) {
    case "overloaded":
      return `${name} is temporarily overloaded${status}.`;
    case "rate_limited":
      return `${name} is limiting the rate of requests${status}.`;
    case "timeout":
      return `${name} is temporarily unavailable${status}.`;
    case "startup_timeout":
      return `${name} did not start to answer in time.`;
    case "stream_stalled":
      return `${name} stopped in the middle of its answer.`;
    case "auth":
      return `${name} refused the credentials${status}. Check the API key and its permissions.`;
    case "billing":
      return `${name} refused the request because of the account's credit or quota${status}. Check the billing.`;
    case "config":
      return `${name} does not accept this model or its settings${status}. Check the model name and the base URL.`;
    case "context_too_large":
      return `The conversation is too long for this model of ${name}${status}.`;
    case "content_filtered":
      return `${name} refused to answer because of its content policy${status}.`;
    case "missing_key":
      return `There is no API key for ${name}. Add one and try again.`;
    case "provider_disabled":
      return `${name} is turned off.`;
    // Not caused by vendors.
    case "empty_answer":
    case "usage_limit":
    case "storage_limit":
    case "storage_full":
    case "internal":
    case "generic":
      return `The request to ${name} failed${status}.`;
  }
}

function silenceToModelCallError(error: SilenceError, settings: ProviderSettings): ModelCallError {
  const kind = error.phase === "startup" ? "startup_timeout" : "stream_stalled";
  const failure: ChatFailure = {
    kind,
    message: describeFailure(kind, settings.displayName, undefined),
    provider: settings.kind,
    isRetryable: true,
  };
  return new ModelCallError(failure, undefined, { cause: error });
}

/** Reads an error of any SDK by its fields: all have `status`, `headers` and the body. */
function collectFacts(error: unknown): Facts {
  const chain = causeChain(error);
  const bodies = chain.flatMap((link) => errorBodies(field(link, "error")));
  const codes = [...chain, ...bodies].flatMap((link) => [field(link, "type"), field(link, "code")]);
  // An error inside a stream has no status of its own; gateways send it as the code: 502, or "502".
  const httpStatus = statusOf(error) ?? codes.map(statusInCode).find((status) => status !== undefined);
  const headers = field(error, "headers");
  const bodyMessage = bodies.map((body) => field(body, "message")).find((text) => typeof text === "string");
  const own = error instanceof Error ? error.message : "";
  // The SDKs prefix a plain-text body with the status, and mark an empty one with "(no body)".
  const isPlainBody = statusOf(error) !== undefined && !own.endsWith("(no body)");
  const unwrapped = unwrapMessage(bodyMessage ?? own);
  const messages = [...chain, ...bodies].map((link) => field(link, "message"));
  return {
    evidence: {
      ...(httpStatus === undefined ? {} : { httpStatus }),
      codes: [...codes.filter((code) => typeof code === "string"), ...awsErrorTypes(headers)].map((code) =>
        code.toLowerCase(),
      ),
      text: messages
        .filter((text) => typeof text === "string")
        .join("\n")
        .slice(0, SEARCHED_CHARACTERS)
        .toLowerCase(),
    },
    message: unwrapped ?? bodyMessage ?? own.replace(/^\d{3} (?=\S)/, ""),
    isVendors: (bodyMessage ?? unwrapped) !== undefined || isPlainBody || isVendorStreamFailure(error),
    headers: headers instanceof Headers ? headers : undefined,
  };
}

function isVendorStreamFailure(error: unknown): boolean {
  return error instanceof StreamFailure && error.isVendors;
}

/** An error that its SDK does not recognise has the vendor's JSON as its message: `{"message":"…"}`. */
function unwrapMessage(message: string): string | undefined {
  if (!message.startsWith("{")) return undefined;
  try {
    const body: unknown = JSON.parse(message);
    return isJsonObject(body) ? errorFactsOf(body)?.message : undefined;
  } catch {
    return undefined;
  }
}

/** AWS names its errors in a header: `ThrottlingException`, sometimes with an address behind a colon. */
function awsErrorTypes(headers: unknown): string[] {
  const type = headers instanceof Headers ? headers.get("x-amzn-errortype") : null;
  return type ? [type.split(":", 1)[0] ?? ""] : [];
}

function causeChain(error: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let link = error; link !== undefined && link !== null && chain.length < CAUSE_DEPTH_LIMIT;) {
    chain.push(link);
    link = field(link, "cause");
  }
  return chain;
}

/**
 * Anthropic's SDK has `{type: "error", error: {type, message}}`, OpenAI's only the inner object; Azure nests another in
 * it, and OpenRouter the error of the upstream provider, which is more specific than "Provider returned error".
 */
function errorBodies(body: unknown): unknown[] {
  if (body === undefined || body === null) return [];
  const bodies = [field(body, "error"), body].filter((link) => link !== undefined && link !== null);
  const hidden = bodies.map((link) => field(link, "innererror"));
  const behind = bodies.map((link) => (isJsonObject(link) ? upstreamError(link) : undefined));
  return [...behind, ...bodies, ...hidden].filter((link) => link !== undefined && link !== null);
}

function statusOf(error: unknown): number | undefined {
  const status = field(error, "status");
  return typeof status === "number" ? status : undefined;
}

function statusInCode(code: unknown): number | undefined {
  const number = typeof code === "string" && /^\d{3}$/.test(code) ? Number(code) : code;
  return typeof number === "number" && number >= 400 && number <= 599 ? number : undefined;
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
