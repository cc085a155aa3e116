/** Chooses what to answer: the next step of a test's script, or the built-in plan with the message's markers. */
import type { ScriptStep } from "./answer.js";
import { directStep, readDirections } from "./markers.js";
import { isSummaryRequest, isTitleRequest, planAnswer } from "./plan.js";
import { type DemoRequest, lastUserText } from "./request.js";

/**
 * A function; or steps that are used up one per request; or several such lists by name, where the name is the
 * `parley-demo-script` header, the marker `[[demo: script=NAME]]`, or the model's name. When a list is used up,
 * or a function gives nothing, the built-in plan answers.
 */
export type Script =
  | ((request: DemoRequest) => ScriptStep | undefined)
  | readonly ScriptStep[]
  | { readonly [name: string]: readonly ScriptStep[] };

const SCRIPT_HEADER = "parley-demo-script";

/** Messages whose attempts are counted for `times=N`; the oldest is forgotten first. */
const COUNTED_MESSAGES = 1_000;

/** Counts as it goes: each call uses a step up. */
export function createStepChooser(script: Script | undefined): (request: DemoRequest) => ScriptStep {
  const positions = new Map<string, number>();
  const attempts = new Map<string, number>();
  return (request) => {
    // Steps and markers in a text to be named or summarised are for its turn; only a function can tell the two apart.
    if (isTitleRequest(request) || isSummaryRequest(request))
      return functionStep(script, request) ?? planAnswer(request);
    const message = lastUserText(request);
    const directions = readDirections(message);
    const scripted = nextScripted(script, request, directions.get("script"), positions);
    if (scripted !== undefined) return scripted;
    const attempt = directions.has("times")
      ? countAttempt(attempts, `${request.headers["parley-chat-id"]} ${message}`)
      : 1;
    return directStep(directions, planAnswer(request), message, attempt);
  };
}

function functionStep(script: Script | undefined, request: DemoRequest): ScriptStep | undefined {
  return typeof script === "function" ? script(request) : undefined;
}

function nextScripted(
  script: Script | undefined,
  request: DemoRequest,
  marked: string | undefined,
  positions: Map<string, number>,
): ScriptStep | undefined {
  if (typeof script === "function") return script(request);
  if (script === undefined) return undefined;
  if (isStepList(script)) return takeStep(script, "", positions);
  const name = [request.headers[SCRIPT_HEADER], marked, request.model].find(
    (candidate) => candidate !== undefined && Object.hasOwn(script, candidate),
  );
  return name === undefined ? undefined : takeStep(script[name] ?? [], name, positions);
}

function isStepList(
  script: Exclude<Script, (request: DemoRequest) => unknown>,
): script is readonly ScriptStep[] {
  return Array.isArray(script);
}

function takeStep(
  steps: readonly ScriptStep[],
  name: string,
  positions: Map<string, number>,
): ScriptStep | undefined {
  const position = positions.get(name) ?? 0;
  positions.set(name, position + 1);
  return steps[position];
}

function countAttempt(attempts: Map<string, number>, key: string): number {
  const attempt = (attempts.get(key) ?? 0) + 1;
  attempts.delete(key);
  attempts.set(key, attempt);
  if (attempts.size > COUNTED_MESSAGES) {
    const [oldest] = attempts.keys();
    if (oldest !== undefined) attempts.delete(oldest);
  }
  return attempt;
}
