/** The columns that say what one model call used, for every entity that has them. */
import { Column } from "typeorm";

export abstract class ModelUsageColumns {
  /** Null = the use of tokens is not known; the other counts are null then too. */
  @Column("integer", { name: "input_tokens", nullable: true })
  inputTokens!: number | null;

  @Column("integer", { name: "output_tokens", nullable: true })
  outputTokens!: number | null;

  /** Part of the output. */
  @Column("integer", { name: "reasoning_tokens", nullable: true })
  reasoningTokens!: number | null;

  @Column("integer", { name: "cache_read_tokens", nullable: true })
  cacheReadTokens!: number | null;

  @Column("integer", { name: "cache_write_tokens", nullable: true })
  cacheWriteTokens!: number | null;

  /** Some of the counts of tokens are our own estimate; otherwise the vendor reported them. */
  @Column("boolean", { name: "is_usage_estimated", default: false })
  isUsageEstimated!: boolean;

  /** Millionths of a US dollar; null = unpriced. */
  @Column("bigint", { name: "cost_micros", nullable: true })
  costMicros!: string | null;

  /** Wall time in milliseconds, with that of the tools that the call asked for. */
  @Column("integer", { name: "runtime_ms", nullable: true })
  runtimeMs!: number | null;
}

/** Counts of tokens that a stored message's or call's usage has under the same names. */
export const TOKEN_PROPERTIES = [
  ...(["inputTokens", "outputTokens", "reasoningTokens", "cacheReadTokens", "cacheWriteTokens"] as const),
] as const satisfies readonly (keyof ModelUsageColumns)[];
