/** Why a turn or an attempt failed, as data: made once by whoever saw the failure, shown to people as it is. */

/** Vendors whose wire formats we speak. */
export const MODEL_PROVIDER_KINDS = [
  "anthropic",
  "openai",
  "openai_compatible",
  "google",
  "azure_openai",
  "bedrock",
] as const;
export type ModelProviderKind = (typeof MODEL_PROVIDER_KINDS)[number];

export const FAILURE_KINDS = [
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

/** A failure that a person can read. `message` names the provider and never carries secrets or internals. */
export type ChatFailure = {
  kind: FailureKind;
  message: string;
  /** The vendor's own words, shortened; absent when there are none worth showing. */
  detail?: string;
  provider?: ModelProviderKind;
  isRetryable: boolean;
  httpStatus?: number;
};

/** What a vendor's refusal of the output tokens that a call asked for tells; nothing at all = only that they are to blame. */
export type OutputRefusal = {
  /** The most that this model gives in any answer, in tokens. */
  modelLimit?: number;
  /** The context window, in tokens, into which prompt and answer must fit together. */
  window?: number;
  /** Tokens of the prompt as the vendor counts them; only beside `window`. */
  prompt?: number;
};

/** Thrown by provider adapters, and only by them: an attempt at a model call failed. */
export class ModelCallError extends Error {
  override readonly name = "ModelCallError";
  /** The model's context window in tokens, when the vendor's refusal of a long prompt tells it. */
  readonly contextLimit: number | undefined;
  /** Present when less output, with the same prompt, may be what the vendor wants. */
  readonly outputRefusal: OutputRefusal | undefined;

  constructor(
    readonly failure: ChatFailure,
    /** The vendor's own wish from `retry-after`, in milliseconds. */
    readonly retryAfterMs: number | undefined,
    options: { cause?: unknown; contextLimit?: number; outputRefusal?: OutputRefusal } = {},
  ) {
    super(failure.message, { cause: options.cause });
    this.contextLimit = options.contextLimit;
    this.outputRefusal = options.outputRefusal;
  }
}
