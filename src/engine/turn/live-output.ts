/**
 * What one running tool says, on its way to those who watch: a preview in bounded deltas at a bounded pace. A tool that
 * says more than that is shown its newest words, with a line that tells how much is left out; its result has the truth.
 */
import type { Clock } from "../../lib/clock.js";
import { suffixStart } from "../../lib/text/utf8.js";

/** Faster than anyone reads, slower than terminals flicker: at most five deltas a second for each call. */
export const LIVE_OUTPUT_INTERVAL_MS = 200;
/** Bytes of text that a call may show in a second, and at most in one delta: `yes` must not flood those who watch. */
export const LIVE_OUTPUT_BYTES_PER_SECOND = 16 * 1024;

const SECOND_MS = 1_000;

export class LiveOutput {
  #waiting = "";
  #leftOutBytes = 0;
  #nextAt = -Infinity;
  #cancelTimer: (() => void) | null = null;
  #isClosed = false;

  constructor(
    private readonly show: (append: string) => void,
    private readonly clock: Clock,
  ) {}

  /** `missedBytes` were said before `text` and are lost already. */
  write(text: string, missedBytes = 0): void {
    if (this.#isClosed) return;
    if (missedBytes > 0) {
      // One line tells of both: what waits is older than what is lost.
      this.#leftOutBytes += missedBytes + Buffer.byteLength(this.#waiting);
      this.#waiting = "";
    }
    this.#waiting += text;
    this.#shorten();
    if (this.#cancelTimer || this.#waiting === "") return;
    const wait = this.#nextAt - this.clock.now();
    if (wait <= 0) this.#flush();
    else this.#cancelTimer = this.clock.after(wait, () => this.#flush());
  }

  /** The result is there, or nobody waits for it any more: what was not shown yet never is. */
  close(): void {
    this.#isClosed = true;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#waiting = "";
  }

  #shorten(): void {
    const excess = Buffer.byteLength(this.#waiting) - LIVE_OUTPUT_BYTES_PER_SECOND;
    if (excess <= 0) return;
    const bytes = Buffer.from(this.#waiting);
    const start = suffixStart(bytes, excess);
    this.#waiting = bytes.toString("utf8", start);
    this.#leftOutBytes += start;
  }

  #flush(): void {
    this.#cancelTimer = null;
    const text = this.#waiting;
    const mark = this.#leftOutBytes > 0 ? `\n... [${this.#leftOutBytes} bytes left out] ...\n` : "";
    this.#waiting = "";
    this.#leftOutBytes = 0;
    const paceMs = (Buffer.byteLength(text) / LIVE_OUTPUT_BYTES_PER_SECOND) * SECOND_MS;
    this.#nextAt = this.clock.now() + Math.max(LIVE_OUTPUT_INTERVAL_MS, paceMs);
    this.show(mark + text);
  }
}
