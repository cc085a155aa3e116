/** An MCP server's stderr: rate-limited into the log, with its last lines for the error message when it exits. */
import { StringDecoder } from "node:string_decoder";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import { cutText } from "../../lib/text/utf8.js";

const MAX_LINE_BYTES = 2 * 1024;
/** A server that prints endlessly must not fill the log. */
const MAX_LINES_PER_PERIOD = 100;
const PERIOD_MS = 60_000;
/** The head of a stack trace: enough to see what is missing. */
const LAST_WORDS_CHARACTERS = 600;

export class StderrLog {
  readonly #options: { server: string; log: Log; clock: Clock };
  readonly #decoder = new StringDecoder("utf8");
  #line = "";
  #lastWords = "";
  #periodEndMs = 0;
  #linesInPeriod = 0;

  constructor(options: { server: string; log: Log; clock: Clock }) {
    this.#options = options;
  }

  take(chunk: Buffer): void {
    const text = this.#decoder.write(chunk);
    this.#lastWords = (this.#lastWords + text).slice(-LAST_WORDS_CHARACTERS);
    const lines = (this.#line + text).split("\n");
    this.#line = (lines.pop() ?? "").slice(-MAX_LINE_BYTES);
    for (const line of lines) this.#write(line);
  }

  /** The end of its output; empty when it printed nothing. */
  get lastWords(): string {
    return this.#lastWords.trim();
  }

  #write(line: string): void {
    const { server, log, clock } = this.#options;
    if (clock.now() >= this.#periodEndMs) {
      this.#periodEndMs = clock.now() + PERIOD_MS;
      this.#linesInPeriod = 0;
    }
    this.#linesInPeriod += 1;
    if (this.#linesInPeriod < MAX_LINES_PER_PERIOD) {
      log.debug({ server, line: cutText(line, MAX_LINE_BYTES) }, "MCP server stderr");
    } else if (this.#linesInPeriod === MAX_LINES_PER_PERIOD) {
      log.warn(
        { server, periodMs: PERIOD_MS },
        "MCP server prints too much to stderr; the rest of this period is dropped",
      );
    }
  }
}
