// Model vendor of the soak: responds by a seeded plan, and fails in every way that vendors are known to fail.
import { createHash } from "node:crypto";
import type { ScriptStep } from "../../src/demo-model/answer.js";
import { type DemoRequest, lastUserText } from "../../src/demo-model/request.js";
import { Chance, type Tally } from "./chance.js";

/** Label of a user message: its chat, and its number there. */
export const label = (chat: number, message: number) => `[chat ${chat} message ${message}]`;
const LABEL = /\[chat (\d+) message \d+\]/g;

/** Context limit of the models; prompts reported as larger than 70 % of it are compacted. */
export const CONTEXT_LIMIT_TOKENS = 20_000;
const FULL_TOKENS = 17_000;
const STEPS_OF_A_TURN = 5;

/** Relative frequency of each fault. */
const FAULTS = {
  overloaded: 6,
  "rate limited": 3,
  "rate limited, wait 0 s": 3,
  "rate limited, wait 500 s": 1,
  "server error": 3,
  "error page": 2,
  "refused key": 2,
  "bad request": 2,
  "error in the stream": 4,
  "cut off": 5,
  "silent end": 3,
  "hangs before the headers": 1,
  "hangs before the answer": 2,
  "hangs in the answer": 3,
  "prompt too long": 3,
  "content filter": 2,
} as const;
type Fault = keyof typeof FAULTS;

export class Vendor {
  /** No more faults and no more tool calls, so that all chats settle. */
  isCalm = false;
  /** Number of repeated requests: the same conversation, in the same chat. */
  repeats = 0;
  readonly #asked = new Set<string>();
  readonly #numbers = new Map<string, number>();
  readonly #chances = new Map<string, Chance>();

  constructor(
    private readonly seed: number,
    private readonly tally: Tally,
    /** Percentage of requests that fail. */
    private readonly faultPercent: number,
  ) {}

  answer(request: DemoRequest): ScriptStep {
    const chat = this.#chatOf(request);
    const kind = isSummaryRequest(request) ? "summary" : "answer";
    if (kind === "answer") this.#countRepeat(request);
    this.tally.add("model calls", this.isCalm ? `calm ${kind}` : kind);
    if (this.isCalm) return kind === "summary" ? { text: "All was said.", usage: SMALL } : CALM_ANSWER;
    const chance = this.#chanceOf(chat);
    if (chance.percent(this.faultPercent)) return this.#fail(chance.weighted(FAULTS), chance, kind);
    return kind === "summary" ? this.#summarize(chance) : this.#speak(chance, request);
  }

  #countRepeat({ headers, turns }: DemoRequest): void {
    const hash = createHash("sha256").update(JSON.stringify(turns)).digest("base64");
    const question = `${headers["parley-chat-id"] ?? ""} ${hash}`;
    if (!this.#asked.has(question)) this.#asked.add(question);
    else this.repeats += 1;
  }

  /** The number of the request's chat. A summary removes the labels, so the numbers are also stored by chat id. */
  #chatOf(request: DemoRequest): number {
    const id = request.headers["parley-chat-id"] ?? "";
    const known = this.#numbers.get(id);
    if (known !== undefined) return known;
    const texts = request.turns.map((turn) => (turn.role === "user" ? turn.text : "")).join(" ");
    const found = Number([...texts.matchAll(LABEL)].at(-1)?.[1] ?? -1);
    if (found >= 0) this.#numbers.set(id, found);
    return found;
  }

  #chanceOf(chat: number): Chance {
    const known = this.#chances.get(String(chat));
    if (known) return known;
    const chance = Chance.of(this.seed, "vendor", chat);
    this.#chances.set(String(chat), chance);
    return chance;
  }

  #fail(fault: Fault, chance: Chance, kind: string): ScriptStep {
    this.tally.add("vendor's faults", fault);
    const text = ["Before ", "it ", "went ", "wrong. "];
    const after = chance.below(text.length + 1);
    switch (fault) {
      case "overloaded":
        return { error: { status: 529 } };
      case "rate limited":
        return { error: { status: 429 } };
      case "rate limited, wait 0 s":
        return { error: { status: 429, headers: { "retry-after": "0" } } };
      case "rate limited, wait 500 s":
        return { error: { status: 429, headers: { "retry-after": "500" } } };
      case "server error":
        return { error: { status: chance.pick([500, 502, 503, 504]) } };
      case "error page":
        return { error: { status: 502, body: "<html><body>Bad gateway</body></html>" } };
      case "refused key":
        return { error: { status: 401 } };
      case "bad request":
        return { error: { status: 400 } };
      case "error in the stream":
        return { text, streamError: { type: "overloaded_error", message: "Overloaded" } };
      case "cut off":
        return { text, cutAfterDeltas: after };
      case "silent end":
        return { text, endAfterDeltas: after };
      case "hangs before the headers":
        return { hang: "before-headers" };
      case "hangs before the answer":
        return { hang: "before-events" };
      case "hangs in the answer":
        return { reasoning: "Let me think.", text, hang: after };
      case "prompt too long":
        return { error: { status: 400, message: "prompt is too long" } };
      case "content filter":
        if (kind === "summary") return { text, finish: "length" };
        return {
          text,
          finish: "content-filter",
          ...(chance.percent(50) ? { toolCalls: [FILTERED_CALL] } : {}),
        };
    }
  }

  #summarize(chance: Chance): ScriptStep {
    if (chance.percent(15)) {
      this.tally.add("vendor's faults", "empty summary");
      return { text: "", usage: SMALL };
    }
    return { text: `They talked, and ${chance.below(1_000)} things were said.`, delayMs: 2, usage: SMALL };
  }

  #speak(chance: Chance, request: DemoRequest): ScriptStep {
    const isFull = chance.percent(5);
    const step: ScriptStep = {
      text: Array.from({ length: 1 + chance.below(12) }, (_, index) => `word${index} `),
      delayMs: chance.pick([0, 0, 1, 5, 20, 60]),
      usage: isFull ? { ...SMALL, inputTokens: FULL_TOKENS } : SMALL,
      ...(chance.percent(30) ? { reasoning: "First this, then that." } : {}),
      ...(chance.percent(3) ? { finish: "length" as const } : {}),
    };
    if (chance.percent(5)) step.text = [];
    if (stepsSoFar(request) >= STEPS_OF_A_TURN || request.tools.length === 0 || !chance.percent(45))
      return step;
    const available = new Set(request.tools.map(({ name }) => name));
    const toolCalls = Array.from({ length: 1 + chance.below(3) }, () => this.#call(chance, available));
    return { ...step, toolCalls };
  }

  #call(chance: Chance, available: ReadonlySet<string>): NonNullable<ScriptStep["toolCalls"]>[number] {
    const name = chance.weighted({ execute: 8, write_file: 3, read_file: 3, ask_user: 3, no_such_tool: 1 });
    const file = `notes-${chance.below(50)}.txt`;
    const isAvailable = available.has(name) || name === "no_such_tool";
    if (!isAvailable && !available.has("execute")) return { name: "ask_user", arguments: {} };
    this.tally.add("tool calls asked for", name);
    switch (name) {
      case "execute":
        return { name, arguments: { command: chance.pick(COMMANDS), timeout: "20s" } };
      case "write_file":
        return { name, arguments: { path: file, content: `line ${chance.below(1_000)}\n` } };
      case "read_file":
        return { name, arguments: { path: file } };
      case "ask_user":
        return { name, arguments: chance.percent(90) ? { question: "Really?" } : '{"question": "Rea' };
      case "no_such_tool":
        return { name, arguments: {} };
    }
  }
}

const SMALL = { inputTokens: 900, outputTokens: 100, cacheReadTokens: 0, cacheWriteTokens: 0 };
const FILTERED_CALL = { name: "execute", arguments: { command: "echo never" } };
const CALM_ANSWER: ScriptStep = { text: "All is well.", usage: SMALL };
const COMMANDS = [
  "echo one",
  "echo one",
  "printf more >> log.txt",
  "exit 3",
  "sleep 0.1; echo two",
  "sleep 30",
];

/** Parley's summary request is the last message; simulated users never send this text. */
function isSummaryRequest(request: DemoRequest): boolean {
  return lastUserText(request).includes("Summarise this conversation so that you can go on");
}

function stepsSoFar({ turns }: DemoRequest): number {
  return turns.length - 1 - turns.findLastIndex(({ role }) => role === "user");
}
