/** Times of the calls in one model answer: when each was requested, and how long the vendor ran its own. */
import type { ModelStreamPart } from "../../providers/types.js";
import type { Clock } from "../../lib/clock.js";

type Timed = ModelStreamPart & { startedAt?: number; durationMs?: number };

export class CallTimes {
  readonly #startedAt = new Map<string, number>();

  constructor(private readonly clock: Clock) {}

  /** Adds the times to a call or a result. A call that comes twice began the first time. */
  stamp(part: ModelStreamPart): Timed {
    if (part.type === "tool-call") {
      const startedAt = this.#startedAt.get(part.toolCallId) ?? this.clock.now();
      this.#startedAt.set(part.toolCallId, startedAt);
      return { ...part, startedAt };
    }
    if (part.type !== "tool-result") return part;
    const startedAt = this.#startedAt.get(part.toolCallId);
    return startedAt === undefined ? part : { ...part, startedAt, durationMs: this.clock.now() - startedAt };
  }
}
