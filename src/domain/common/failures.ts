/** Failures of turns and model calls as data: created once where the failure is observed, shown to users unchanged. */

/** Vendors whose wire formats are supported. */
export const MODEL_PROVIDER_KINDS = [
  "anthropic",
  "openai",
  "openai_compatible",
  "google",
  "azure_openai",
  "bedrock",
] as const;
export type ModelProviderKind = (typeof MODEL_PROVIDER_KINDS)[number];

const FAILURE_KINDS = [
  "generic",
  "overloaded",
  "rate_limited",
  "timeout",
  "startup_timeout",
  "stream_stalled",
  "auth",
  "billing",
  "config",
  "context_too_large",
  "content_filtered",
  "empty_answer",
  "usage_limit",
  "storage_limit",
  "storage_full",
  "missing_key",
  "provider_disabled",
  "internal",
] as const;
export type FailureKind = (typeof FAILURE_KINDS)[number];

/** A failure worded for users. `message` names the provider and never contains secrets or internals. */
export type ChatFailure = {
  kind: FailureKind;
  message: string;
  /** The vendor's own message, shortened; absent when there is none worth showing. */
  detail?: string;
  provider?: ModelProviderKind;
  isRetryable: boolean;
  httpStatus?: number;
};

/** Limits learned from a vendor's refusal of the requested output tokens; empty = only that they were too many. */
export type OutputRefusal = {
  /** The model's limit of output tokens. */
  modelLimit?: number;
  /** The context window, in tokens, that prompt and answer share. */
  window?: number;
  /** Tokens of the prompt as the vendor counts them; only beside `window`. */
  prompt?: number;
};

/** A failed model call. Thrown by provider adapters only. */
export class ModelCallError extends Error {
  override readonly name = "ModelCallError";
  /** The model's context window in tokens, when the vendor's refusal of a long prompt states it. */
  readonly contextLimit: number | undefined;
  /** Present when the same prompt may succeed with a lower output limit. */
  readonly outputRefusal: OutputRefusal | undefined;

  constructor(
    readonly failure: ChatFailure,
    /** The vendor's `retry-after`, in milliseconds. */
    readonly retryAfterMs: number | undefined,
    options: { cause?: unknown; contextLimit?: number; outputRefusal?: OutputRefusal } = {},
  ) {
    super(failure.message, { cause: options.cause });
    this.contextLimit = options.contextLimit;
    this.outputRefusal = options.outputRefusal;
  }
}
