/** What a tool server prints on stderr: into the log, within bounds, and its last words for whoever asks why it died. */
import { StringDecoder } from "node:string_decoder";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import { cutText } from "../../lib/text/utf8.js";

const MAX_LINE_BYTES = 2 * 1024;
/** A server that prints without end must not fill the disk of whoever keeps the log. */
const MAX_LINES_PER_PERIOD = 100;
const PERIOD_MS = 60_000;
/** The last lines of a stack trace's head: enough to know what is missing. */
const LAST_WORDS_CHARACTERS = 600;

export class StderrLog {
  readonly #parts: { server: string; log: Log; clock: Clock };
  readonly #decoder = new StringDecoder("utf8");
  #line = "";
  #lastWords = "";
  #periodEndMs = 0;
  #linesInPeriod = 0;

  constructor(parts: { server: string; log: Log; clock: Clock }) {
    this.#parts = parts;
  }

  take(chunk: Buffer): void {
    const text = this.#decoder.write(chunk);
    this.#lastWords = (this.#lastWords + text).slice(-LAST_WORDS_CHARACTERS);
    const lines = (this.#line + text).split("\n");
    this.#line = (lines.pop() ?? "").slice(-MAX_LINE_BYTES);
    for (const line of lines) this.#write(line);
  }

  /** What it printed last; empty when it printed nothing. */
  get lastWords(): string {
    return this.#lastWords.trim();
  }

  #write(line: string): void {
    const { server, log, clock } = this.#parts;
    if (clock.now() >= this.#periodEndMs) {
      this.#periodEndMs = clock.now() + PERIOD_MS;
      this.#linesInPeriod = 0;
    }
    this.#linesInPeriod += 1;
    if (this.#linesInPeriod < MAX_LINES_PER_PERIOD) {
      log.debug({ server, line: cutText(line, MAX_LINE_BYTES) }, "A tool server's stderr");
    } else if (this.#linesInPeriod === MAX_LINES_PER_PERIOD) {
      log.warn({ server, periodMs: PERIOD_MS }, "A tool server prints too much; the rest is left out");
    }
  }
}
