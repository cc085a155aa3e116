/**
 * Directives to the demo model inside a message, for tests and benches in other processes that cannot pass a script:
 * `[[demo: deltas=50 delay=20]]`. The help text below is the list. Pure; what it does not know it ignores.
 */
import type { AnswerFinish, ScriptStep } from "./answer.js";
import { makeTitle } from "./plan.js";

export const MARKER_HELP = [
  "Markers in the last user message, for example [[demo: deltas=50 delay=20]]:",
  "  deltas=N           answer with N deltas of text (at most 1000000)",
  "  size=N             make each delta N characters long (default a short word; at most 1000000)",
  "  delay=MS           wait between two deltas; also slows the built-in answers down",
  "  reasoning          think before the answer",
  "  redacted           think before the answer, in secret",
  "  search             search the web (not really) and cite two pages",
  "  title              answer with a title for the message",
  "  usage=I,O,R,CR,CW  say that this was used: input, output, reasoning in it, cache reads, cache writes",
  "  finish=REASON      stop, length or content-filter",
  "  error=STATUS       refuse with this HTTP status; retry-after=SECONDS adds the header",
  "  sse-error=TYPE     an error event in the middle, for example overloaded_error",
  "  cut=N              destroy the socket after N deltas",
  "  end=N              end the response after N deltas, without finishing the answer",
  "  hang[=N]           fall silent before the headers, or after N deltas",
  "  times=N            only the first N requests with this message fail (error, sse-error, cut, end, hang)",
  "  script=NAME        take the next step of this named script",
];

/** Bounds against a typing error in a marker; far above what a test needs. */
const DELTAS_LIMIT = 1_000_000;
const SIZE_LIMIT_CHARACTERS = 1_000_000;
const ANSWER_LIMIT_CHARACTERS = 64 * 1024 * 1024;
const DELAY_LIMIT_MS = 600_000;
const DEFAULT_DELTAS = 10;

export type Directions = ReadonlyMap<string, string>;

/** The directions of all markers in a text; later ones win. Empty when there is none. */
export function readDirections(text: string): Directions {
  const directions = new Map<string, string>();
  for (const [, inside = ""] of text.matchAll(/\[\[demo:([^\]]{0,500})\]\]/g)) {
    for (const word of inside.trim().split(/\s+/)) {
      const [key = "", value = ""] = word.split("=", 2);
      if (key !== "") directions.set(key, value);
    }
  }
  return directions;
}

/**
 * What the markers ask for, on top of what the model would answer by itself. `attempt` counts the requests
 * with this message from 1.
 */
export function directStep(
  directions: Directions,
  planned: ScriptStep,
  message: string,
  attempt: number,
): ScriptStep {
  if (directions.size === 0) return planned;
  const times = numberOf(directions, "times", Number.MAX_SAFE_INTEGER);
  const fault = times === undefined || attempt <= times ? faultOf(directions) : {};
  const content = contentOf(directions, message) ?? planned;
  return {
    ...content,
    ...thinkingOf(directions),
    ...delayOf(directions),
    ...finishOf(directions),
    ...usageOf(directions),
    ...fault,
  };
}

function contentOf(directions: Directions, message: string): ScriptStep | undefined {
  if (directions.has("title")) return { text: makeTitle(message) };
  const asked = ["deltas", "size", "cut", "end", "hang", "sse-error", "search"].some((key) =>
    directions.has(key),
  );
  if (!asked) return undefined;
  const wanted = numberOf(directions, "deltas", DELTAS_LIMIT) ?? DEFAULT_DELTAS;
  const size = numberOf(directions, "size", SIZE_LIMIT_CHARACTERS);
  const count =
    size === undefined ? wanted : Math.min(wanted, Math.floor(ANSWER_LIMIT_CHARACTERS / Math.max(1, size)));
  const text = Array.from({ length: count }, (_, index) =>
    size === undefined ? `word${index + 1} ` : `${index + 1} `.padEnd(size, "x").slice(0, size),
  );
  return directions.has("search") ? { text, search: DEMO_SEARCH } : { text };
}

const DEMO_SEARCH = {
  query: "demo",
  pages: [
    { url: "https://example.com/one", title: "The first page" },
    { url: "https://example.com/two", title: "The second page" },
  ],
};

function thinkingOf(directions: Directions): ScriptStep {
  const text = "I am a demo model and only pretend to think about this.";
  if (directions.has("redacted")) return { reasoning: { text, isRedacted: true } };
  return directions.has("reasoning") ? { reasoning: text } : {};
}

function delayOf(directions: Directions): ScriptStep {
  const delayMs = numberOf(directions, "delay", DELAY_LIMIT_MS);
  return delayMs === undefined ? {} : { delayMs };
}

function finishOf(directions: Directions): ScriptStep {
  const reasons: readonly AnswerFinish[] = ["stop", "length", "content-filter"];
  const finish = reasons.find((reason) => reason === directions.get("finish"));
  return finish === undefined ? {} : { finish };
}

/** Left out numbers are 0; nothing is said when one is no number. */
function usageOf(directions: Directions): ScriptStep {
  const words = directions.get("usage")?.split(",") ?? [];
  if (words.length === 0 || !words.every((word) => /^\d{1,9}$/.test(word))) return {};
  const [inputTokens = 0, outputTokens = 0, reasoningTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0] =
    words.map(Number);
  return { usage: { inputTokens, outputTokens, reasoningTokens, cacheReadTokens, cacheWriteTokens } };
}

function faultOf(directions: Directions): ScriptStep {
  const status = numberOf(directions, "error", 599);
  if (status !== undefined && status >= 400) {
    const seconds = directions.get("retry-after");
    const headers = seconds === undefined ? {} : { headers: { "retry-after": seconds } };
    return { error: { status, message: "Asked for by a demo marker.", ...headers } };
  }
  const errorType = directions.get("sse-error");
  if (errorType !== undefined) {
    return { streamError: { type: errorType || "overloaded_error", message: "Asked for by a demo marker." } };
  }
  const cutAfterDeltas = numberOf(directions, "cut", DELTAS_LIMIT);
  if (cutAfterDeltas !== undefined) return { cutAfterDeltas };
  const endAfterDeltas = numberOf(directions, "end", DELTAS_LIMIT);
  if (endAfterDeltas !== undefined) return { endAfterDeltas };
  if (!directions.has("hang")) return {};
  return { hang: numberOf(directions, "hang", DELTAS_LIMIT) ?? "before-headers" };
}

/** A whole number from 0 to `limit`, or undefined. */
function numberOf(directions: Directions, key: string, limit: number): number | undefined {
  const text = directions.get(key);
  if (text === undefined || !/^\d{1,15}$/.test(text)) return undefined;
  return Math.min(Number(text), limit);
}
