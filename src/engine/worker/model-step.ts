/** The first half of a step: the model is asked, and its answer committed as soon as it has ended. */
import type { MessageDraft } from "../../domain/chat-state.js";
import type { ChatFailure } from "../../domain/failures.js";
import { nextAction, openCallsOf } from "../../domain/next-action.js";
import type { Command } from "../../domain/transition.js";
import { sleep } from "../../lib/clock.js";
import { callModel, type CallOutcome } from "../turn/call-model.js";
import { retryDelay } from "../turn/retry.js";
import { asHistory, type Hold, type Kept } from "./hold.js";
import type { PreparedCall, TurnContext } from "./turn-context.js";

/** `overflow`: the vendor refused the prompt as too long, and nothing has been done about it yet. */
export type ModelStepEnd = { overflow: ChatFailure | null };

/** Asks the model once. Whatever else came of it is committed when this resolves. */
export async function takeModelStep(hold: Hold, context: TurnContext): Promise<ModelStepEnd> {
  hold.startStep();
  const prepared = await context.prepareCall(hold.history);
  if (!prepared.ok) return done(hold.fail(prepared.failure));
  if (!(await hold.beginAttempt())) return { overflow: null };
  const outcome = await callModel(prepared.call.open, hold.switch.signal, hold.ports());
  if (outcome.type === "failed") {
    if (outcome.failure.kind === "context_too_large" && hold.switch.reason === null) {
      await context.learnLimit(prepared.call.model, outcome.contextLimit);
      return { overflow: outcome.failure };
    }
  }
  const message = answerDraft(hold, outcome, prepared.call);
  const openCalls = openCallsOf(outcome.parts, context.clientToolNames);
  const kept = { messages: outcome.parts.length > 0 ? [message] : [], openCalls };
  if (outcome.type === "failed") return done(retryOrFail(hold, outcome, kept));
  if (outcome.type === "stopped") return done(hold.giveUp(kept));
  return done(commitAnswer(hold, context, { message, openCalls, finishReason: outcome.finishReason }));
}

async function done(work: Promise<void>): Promise<ModelStepEnd> {
  await work;
  return { overflow: null };
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
 * the turn meanwhile keeps what they saw: `kept`.
 */
export async function retryOrFail(
  hold: Hold,
  outcome: CallOutcome & { type: "failed" },
  kept: Kept,
): Promise<void> {
  const { failure, retryAfterMs, cause } = outcome;
  const { clock, log, random } = hold.parts;
  const { chatId } = hold.chat;
  const delayMs = retryDelay(failure, hold.state.attempt, retryAfterMs, random());
  log.warn({ err: cause, chatId, failure, attempt: hold.state.attempt, delayMs }, "A model call failed");
  if (hold.switch.reason !== null) return hold.giveUp(kept);
  const fence = hold.fence();
  const next: Command =
    delayMs === null ? { type: "fail", fence, failure } : { type: "record-retry", fence, delayMs, failure };
  if (!(await hold.commit([next]))) return hold.finishInterrupt(kept);
  if (delayMs !== null) await sleep(clock, delayMs, hold.switch.signal);
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
