// Scripts for the demo model, chosen by the first words of each chat. The current step is derived from the request's
// history, so that a repeated request gets the same answer.
import { randomUUID } from "node:crypto";
import type { ScriptStep } from "../../../src/demo-model/answer.js";
import { argumentsOf, type DemoRequest } from "../../../src/demo-model/request.js";
import type { JsonObject } from "../../../src/domain/common/json.js";

/** The steps of a turn; after the last one the model says nothing. */
export type Play = readonly ((scene: Scene) => ScriptStep)[];

type Answer = Record<string, string>;

export type Scene = {
  /** The chat's subagents, in the order in which they were started. */
  agents: string[];
  /** What tools have answered in this turn, in order; what is no text of it as JSON. */
  results: Answer[];
  request: DemoRequest;
};

/** Scripts by the beginning of a line of the newest user message, else of the first. */
export function playing(plays: Record<string, Play>) {
  return (request: DemoRequest): ScriptStep | undefined => {
    const texts = request.turns.flatMap((turn) => (turn.role === "user" ? [turn.text] : []));
    const play = nameIn(texts.at(-1), plays) ?? nameIn(texts[0], plays);
    if (play === undefined) return undefined;
    const lastUser = request.turns.findLastIndex(({ role }) => role === "user");
    const turn = request.turns.slice(lastUser + 1);
    const step = turn.filter(({ role }) => role === "assistant").length;
    const results = resultsIn(turn);
    const started = resultsIn(request.turns).filter((result) => result["type"] !== undefined);
    const agents = started.flatMap(({ chat_id: id }) => (id === undefined ? [] : [id]));
    return plays[play]?.[step]?.({ agents, results, request });
  };
}

/** Adjacent messages arrive as one: the last line that begins with a name counts. */
function nameIn(text: string | undefined, plays: Record<string, Play>): string | undefined {
  const lines = (text ?? "").split("\n").toReversed();
  const names = Object.keys(plays);
  return lines.flatMap((line) => names.filter((name) => line.startsWith(name)))[0];
}

function resultsIn(turns: DemoRequest["turns"]): Answer[] {
  return turns.flatMap((turn) =>
    turn.role === "results" ? turn.results.map(({ text }) => asTexts(argumentsOf(text))) : [],
  );
}

function asTexts(result: JsonObject): Answer {
  const fields = Object.entries(result);
  return Object.fromEntries(
    fields.map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
  );
}

/** A step of calls and nothing else. */
export function calls(...wanted: [name: string, args: JsonObject][]): ScriptStep {
  return {
    toolCalls: wanted.map(([name, args]) => ({ id: `toolu_${randomUUID()}`, name, arguments: args })),
  };
}

export const say = (text: string) => (): ScriptStep => ({ text });
