/**
 * Live output of one running tool call: a preview in deltas of bounded size at a bounded rate. Beyond that only the
 * newest output is shown, after a line with the number of omitted bytes; the tool's result is not affected.
 */
import type { Clock } from "../../lib/clock.js";
import { suffixStart } from "../../lib/text/utf8.js";

/** Faster than anyone reads, slower than terminals flicker: at most five deltas a second per call. */
export const LIVE_OUTPUT_INTERVAL_MS = 200;
/** Bytes of text that a call may show per second, and at most in one delta: `yes` must not flood subscribers. */
export const LIVE_OUTPUT_BYTES_PER_SECOND = 16 * 1024;

const SECOND_MS = 1_000;

export class LiveOutput {
  #pending = "";
  #omittedBytes = 0;
  #nextAt = -Infinity;
  #cancelTimer: (() => void) | null = null;
  #isClosed = false;

  constructor(
    private readonly show: (append: string) => void,
    private readonly clock: Clock,
  ) {}

  /** `missedBytes`: lost output before `text`. */
  write(text: string, missedBytes = 0): void {
    if (this.#isClosed) return;
    if (missedBytes > 0) {
      // Pending text is older than the lost output: one line counts both.
      this.#omittedBytes += missedBytes + Buffer.byteLength(this.#pending);
      this.#pending = "";
    }
    this.#pending += text;
    this.#shorten();
    if (this.#cancelTimer || this.#pending === "") return;
    const wait = this.#nextAt - this.clock.now();
    if (wait <= 0) this.#flush();
    else this.#cancelTimer = this.clock.after(wait, () => this.#flush());
  }

  /** Discards pending output: the result is there, or is not needed any more. */
  close(): void {
    this.#isClosed = true;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#pending = "";
  }

  #shorten(): void {
    const excess = Buffer.byteLength(this.#pending) - LIVE_OUTPUT_BYTES_PER_SECOND;
    if (excess <= 0) return;
    const bytes = Buffer.from(this.#pending);
    const start = suffixStart(bytes, excess);
    this.#pending = bytes.toString("utf8", start);
    this.#omittedBytes += start;
  }

  #flush(): void {
    this.#cancelTimer = null;
    const text = this.#pending;
    const mark = this.#omittedBytes > 0 ? `\n... [${this.#omittedBytes} bytes left out] ...\n` : "";
    this.#pending = "";
    this.#omittedBytes = 0;
    const rateMs = (Buffer.byteLength(text) / LIVE_OUTPUT_BYTES_PER_SECOND) * SECOND_MS;
    this.#nextAt = this.clock.now() + Math.max(LIVE_OUTPUT_INTERVAL_MS, rateMs);
    this.show(mark + text);
  }
}
