/**
 * Classification of vendor errors by a table: the first matching rule decides the kind and whether a retry can help.
 * Wordings were observed on real services; each new one belongs here, with its test.
 */
import type { FailureKind, OutputRefusal } from "../../domain/common/failures.js";
import { outputRefusalIn } from "./output-refusal.js";

/** The facts of a failure, in lower case, independent of the SDK. */
export type ErrorEvidence = {
  httpStatus?: number;
  /** Vendor error types and codes (`overloaded_error`, `insufficient_quota`) and network codes (`econnreset`). */
  codes: string[];
  /** The message, and the messages of its causes. */
  text: string;
};

export type Verdict = { kind: FailureKind; isRetryable: boolean };

type Rule = Verdict & {
  statuses?: readonly number[];
  codes?: readonly string[];
  wording?: RegExp;
  /** Does not apply when the vendor blames the model or its settings: gateways use any status for that. */
  unlessConfig?: true;
};

const CONFIG_CODES = [
  "model_not_found",
  "invalid_model",
  "unsupported_model",
  "deploymentnotfound",
  "operationnotsupported",
  "unsupported_api_version",
];
const CONFIG_WORDING =
  /invalid model|model[^.]{0,80}(not found|does not exist|not supported)|unknown model|unsupported (model|parameter|value)|malformed config|model identifier is invalid|on-demand throughput isn.t supported|does not work with the specified model|api version not supported/;

const CONTEXT_WORDING =
  /context[ _](length|window)[^.]{0,20}exceeded|exceeds? the (model'?s )?(maximum )?context|maximum context length|prompt is too long|input is too long|too many (input )?tokens|input length and `max_tokens` exceed|context_exceeded|reduce the length of the (messages|input|prompt)|maximum prompt length|maximum number of (input )?tokens allowed|exceeds the available context size|exceeded model token limit|prompt token count of \d+ exceeds|exceed(s|ed)? (the )?(max )?context (window|length|limit)|too large for model with \d+ maximum context/;

/**
 * OpenAI's wording for a field that is too long, for the fields that contain the conversation: only these get shorter
 * by a summary, unlike ids, names and lists of tools.
 */
const LONG_CONTENT_WORDING =
  /invalid '(messages|input|instructions|prompt|system)(\[\d+\])?(\.(content|output|arguments|tool_calls\[\d+\]\.function\.arguments))?(\[\d+\])?(\.text)?': (string|array) too long\. expected an? (string|array) with maximum length [1-9]/;

const RULES: readonly Rule[] = [
  // First, because AWS words its quota as "Too many tokens, please wait before trying again".
  {
    kind: "rate_limited",
    isRetryable: true,
    codes: ["throttlingexception", "toomanyrequestsexception", "servicequotaexceededexception"],
    wording: /too many (tokens|requests)[^.]{0,20}, please wait/,
  },
  {
    kind: "overloaded",
    isRetryable: true,
    statuses: [529],
    codes: [
      "overloaded_error",
      "server_is_overloaded",
      "slow_down",
      "engine_overloaded",
      "modelnotreadyexception",
    ],
    wording: /\boverloaded\b/,
  },
  {
    kind: "context_too_large",
    isRetryable: false,
    statuses: [413],
    codes: ["context_length_exceeded", "request_too_large"],
    wording: new RegExp(`${CONTEXT_WORDING.source}|${LONG_CONTENT_WORDING.source}`),
  },
  // Google mentions plan and billing also for an exhausted quota per minute; its adapter distinguishes the two.
  { kind: "rate_limited", isRetryable: true, codes: ["resource_exhausted"] },
  {
    kind: "billing",
    isRetryable: false,
    statuses: [402],
    codes: ["insufficient_quota", "billing_error", "billing_hard_limit_reached", "billing_not_active"],
    wording:
      /insufficient[_ ](quota|credits|balance)|credit balance is too low|exceeded your current quota|payment required|billing/,
  },
  {
    kind: "auth",
    isRetryable: false,
    statuses: [401],
    codes: [
      "authentication_error",
      "invalid_api_key",
      "invalid_authentication",
      "unauthenticated",
      "api_key_invalid",
      "unrecognizedclientexception",
      "invalidclienttokenid",
      "invalidsignatureexception",
      "incompletesignature",
      "expiredtokenexception",
      "missingauthenticationtokenexception",
    ],
    wording:
      /invalid (x-)?api[ -_]key|incorrect api key|api key (not valid|expired)|invalid_api_key|unauthorized|authentication|failed to resolve aws credentials/,
  },
  {
    kind: "content_filtered",
    isRetryable: false,
    codes: [
      "content_filter",
      "content_policy_violation",
      "responsibleaipolicyviolation",
      "bio_policy",
      "misalignment_policy_violation",
      "cyber_policy",
    ],
    wording: /content (management )?policy|content[ _]filter|output blocked by/,
  },
  {
    kind: "auth",
    isRetryable: false,
    statuses: [403],
    codes: ["permission_error", "permission_denied", "accessdeniedexception"],
    wording: /\bforbidden\b/,
    unlessConfig: true,
  },
  {
    kind: "rate_limited",
    isRetryable: true,
    statuses: [429],
    codes: ["rate_limit_error", "rate_limit_exceeded", "too_many_requests"],
    wording: /rate[ _-]?limit|too many requests/,
    unlessConfig: true,
  },
  {
    kind: "config",
    isRetryable: false,
    codes: [
      "err_invalid_url",
      "err_ssl_wrong_version_number",
      "cert_has_expired",
      "depth_zero_self_signed_cert",
      "self_signed_cert_in_chain",
      "unable_to_verify_leaf_signature",
      "err_tls_cert_altname_invalid",
    ],
    wording: /invalid url|unknown scheme|must be a valid url/,
  },
  {
    kind: "timeout",
    isRetryable: true,
    statuses: [408, 502, 503, 504, 520, 521, 522, 523, 524],
    codes: [
      "timeout_error",
      "unavailable",
      "deadline_exceeded",
      "modeltimeoutexception",
      "serviceunavailableexception",
      "econnreset",
      "econnrefused",
      "econnaborted",
      "enotfound",
      "eai_again",
      "ehostunreach",
      "enetunreach",
      "epipe",
      "etimedout",
      "und_err_socket",
      "und_err_connect_timeout",
      "und_err_headers_timeout",
      "und_err_body_timeout",
    ],
    wording:
      /\bterminated\b|timed? ?out|timeout|unavailable|connection (error|reset|refused|closed)|fetch failed|socket hang up|other side closed|unexpected eof|truncated event message|premature close|broken pipe|bad gateway/,
    unlessConfig: true,
  },
  {
    kind: "config",
    isRetryable: false,
    statuses: [404],
    codes: [
      ...CONFIG_CODES,
      "not_found_error",
      "resourcenotfoundexception",
      // OpenAI's limits of a request: 128 tools, 64 characters of a name, a maximum of output tokens.
      "string_above_max_length",
      "array_above_max_length",
      "integer_above_max_value",
    ],
    wording: CONFIG_WORDING,
  },
  {
    kind: "generic",
    isRetryable: true,
    statuses: [409, 500],
    codes: [
      "api_error",
      "server_error",
      "internal_server_error",
      "internal_error",
      "internal",
      "malformed_function_call",
      "unexpected_tool_call",
      "malformed_response",
      "internalserverexception",
      "modelerrorexception",
      "modelstreamerrorexception",
    ],
    wording:
      /server error|server had an error|malformed server-sent event|could not parse a bedrock chunk|checksum [^.]{0,40}did not match|reported message length|unexpected token|unexpected end of json|in json at position|unterminated string/,
  },
];

/** Classifies a failure. Without a matching rule, statuses of 500 and above are worth a retry. */
export function classifyError(evidence: ErrorEvidence): Verdict {
  const blamesConfig =
    evidence.codes.some((code) => CONFIG_CODES.includes(code)) || CONFIG_WORDING.test(evidence.text);
  for (const rule of RULES) {
    if (rule.unlessConfig && blamesConfig) continue;
    if (matches(rule, evidence)) return { kind: rule.kind, isRetryable: rule.isRetryable };
  }
  return { kind: "generic", isRetryable: (evidence.httpStatus ?? 0) >= 500 };
}

/** The other kinds concern the account or the connection, not the requested output, whatever their wording. */
const ABOUT_REQUEST: readonly FailureKind[] = ["generic", "config", "context_too_large"];

/**
 * The verdict, refined by what the failure says about the requested output. A limit of the answer is a matter of
 * settings; an overflow of prompt and answer together is one of the context, which a summary can resolve.
 */
export function classifyOutputRefusal(
  verdict: Verdict,
  { text }: ErrorEvidence,
): Verdict & { outputRefusal?: OutputRefusal } {
  const outputRefusal = ABOUT_REQUEST.includes(verdict.kind) ? outputRefusalIn(text) : undefined;
  if (outputRefusal === undefined) return verdict;
  const { modelLimit, window } = outputRefusal;
  if (modelLimit !== undefined) return { kind: "config", isRetryable: false, outputRefusal };
  if (window !== undefined) return { kind: "context_too_large", isRetryable: false, outputRefusal };
  return { ...verdict, outputRefusal };
}

function matches(rule: Rule, { httpStatus, codes, text }: ErrorEvidence): boolean {
  if (httpStatus !== undefined && rule.statuses?.includes(httpStatus)) return true;
  if (rule.codes?.some((code) => codes.includes(code))) return true;
  return rule.wording?.test(text) ?? false;
}
