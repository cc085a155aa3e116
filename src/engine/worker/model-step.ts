/** The first half of a step: the model is asked, and its answer committed as soon as it has ended. */
import type { MessageDraft } from "../../domain/chat-state.js";
import type { ChatFailure } from "../../domain/failures.js";
import { costMicros } from "../../domain/money.js";
import { nextAction, openCallsOf } from "../../domain/next-action.js";
import type { Command } from "../../domain/transition.js";
import { sleep } from "../../lib/clock.js";
import type { CallOutcome } from "../turn/call-model.js";
import { retryDelay } from "../turn/retry.js";
import { asHistory, type Hold, type Kept } from "./hold.js";
import { measuredCall } from "./measured-call.js";
import { withinLimit } from "./within-limit.js";
import type { PreparedCall, TurnContext } from "./turn-context.js";

/** `overflow`: the vendor refused the prompt as too long, and nothing has been done about it yet. */
export type ModelStepEnd = { overflow: ChatFailure | null };

/** `waitMs`: before the next attempt, once this one's call is billed; 0 = not at all. */
type CallEnd = ModelStepEnd & { waitMs: number };

const DONE: CallEnd = { overflow: null, waitMs: 0 };

/** Asks the model once. Whatever else came of it is committed when this resolves. */
export async function takeModelStep(hold: Hold, context: TurnContext): Promise<ModelStepEnd> {
  hold.startStep();
  const prepared = await context.prepareCall(hold.moment);
  if (!prepared.ok) return done(hold.fail(prepared.failure));
  const { call } = prepared;
  const end = (await withinLimit(hold, call, () => callAndCommit(hold, context, call))) ?? DONE;
  await waitForRetry(hold, end.waitMs);
  return { overflow: end.overflow };
}

async function callAndCommit(hold: Hold, context: TurnContext, call: PreparedCall): Promise<CallEnd> {
  if (!(await hold.beginAttempt())) return DONE;
  const additions = context.additions(hold.history);
  const outcome = await measuredCall(hold, call, { ports: hold.ports(), additions, purpose: "step" });
  const message = answerDraft(hold, outcome, call);
  try {
    return await endModelStep(hold, context, { outcome, message, call });
  } finally {
    await hold.billUnlessKept(message, call.model.config, outcome.usage);
  }
}

type Called = { outcome: CallOutcome; message: MessageDraft; call: PreparedCall };

async function endModelStep(
  hold: Hold,
  context: TurnContext,
  { outcome, message, call }: Called,
): Promise<CallEnd> {
  if (outcome.type === "failed") {
    if (outcome.failure.kind === "context_too_large" && hold.switch.reason === null) {
      await context.learnLimit(call.model, outcome.contextLimit);
      return { overflow: outcome.failure, waitMs: 0 };
    }
  }
  const openCalls = openCallsOf(outcome.parts, context.clientToolNames);
  // Notices alone are no answer: the next turn tells them again, if they are still true.
  const isAnswer = outcome.parts.some(({ type }) => type !== "notice");
  const kept = { messages: isAnswer ? [message] : [], openCalls };
  if (outcome.type === "failed") return { overflow: null, waitMs: await retryOrFail(hold, outcome, kept) };
  if (outcome.type === "stopped") return done(hold.giveUp(kept));
  return done(commitAnswer(hold, context, { message, openCalls, finishReason: outcome.finishReason }));
}

async function done(work: Promise<void>): Promise<CallEnd> {
  await work;
  return DONE;
}

type Answer = {
  message: MessageDraft;
  openCalls: ReturnType<typeof openCallsOf>;
  finishReason: (CallOutcome & { type: "completed" })["finishReason"];
};

/** The answer, and in the same transaction the end of the turn when nothing is left to do. */
async function commitAnswer(hold: Hold, context: TurnContext, answer: Answer): Promise<void> {
  const { message, openCalls, finishReason } = answer;
  const fence = hold.fence();
  const kept = { messages: [message], openCalls };
  const commands: Command[] = [{ type: "commit-step", fence, ...kept }];
  if (finishReason === "content-filter") commands.push({ type: "fail", fence, failure: CONTENT_FILTERED });
  else {
    const after = { openCalls, compactionRequestedAt: null };
    const next = nextAction(asHistory(hold.history, message), after, await context.rules(hold.history));
    if (next.type === "finish") commands.push({ type: "finish-turn", fence });
  }
  if (!(await hold.commit(commands))) await hold.finishInterrupt(kept);
}

/**
 * A failed attempt: the next one after a wait that everybody sees, or the end of the turn. A person who has stopped
 * the turn meanwhile keeps what they saw: `kept`. Returns the wait in milliseconds, for `waitForRetry`; 0 = none.
 */
export async function retryOrFail(
  hold: Hold,
  outcome: CallOutcome & { type: "failed" },
  kept: Kept,
): Promise<number> {
  const { failure, retryAfterMs, cause } = outcome;
  const { log, random } = hold.parts;
  const { chatId } = hold.chat;
  const delayMs = retryDelay(failure, hold.state.attempt, retryAfterMs, random());
  log.warn({ err: cause, chatId, failure, attempt: hold.state.attempt, delayMs }, "A model call failed");
  if (hold.switch.reason !== null) {
    await hold.giveUp(kept);
    return 0;
  }
  const fence = hold.fence();
  const next: Command =
    delayMs === null ? { type: "fail", fence, failure } : { type: "record-retry", fence, delayMs, failure };
  if (!(await hold.commit([next]))) {
    await hold.finishInterrupt(kept);
    return 0;
  }
  if (delayMs === null) return 0;
  hold.parts.meter.retry(failure.kind);
  return delayMs;
}

/** Ends early when the turn is stopped. */
export async function waitForRetry(hold: Hold, waitMs: number): Promise<void> {
  if (waitMs > 0) await sleep(hold.parts.clock, waitMs, hold.switch.signal);
}

/** The prompt was refused as too long; a shorter one is tried at once. False when an interrupt came first. */
export function noticeRefusal(hold: Hold, refusal: ChatFailure): Promise<boolean> {
  const failure = { ...refusal, isRetryable: true };
  return hold.commit([{ type: "record-retry", fence: hold.fence(), delayMs: 0, failure }]);
}

function answerDraft(hold: Hold, outcome: CallOutcome, { model }: PreparedCall): MessageDraft {
  return {
    role: "assistant",
    visibility: "both",
    parts: outcome.parts,
    usage: outcome.usage,
    costMicros: costMicros(outcome.usage, model.config.pricing),
    modelConfigId: model.config.id,
    runtimeMs: hold.stepRuntimeMs,
    generation: hold.generationId,
    responseId: outcome.type === "completed" ? outcome.responseId : null,
  };
}

const CONTENT_FILTERED: ChatFailure = {
  kind: "content_filtered",
  message: "The provider's content filter stopped this answer.",
  isRetryable: false,
};
