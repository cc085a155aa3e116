/** First half of a step: calls the model and commits its answer as soon as that has ended. */
import type { MessageDraft } from "../../domain/chats/chat-state.js";
import type { ChatFailure } from "../../domain/common/failures.js";
import type { FinishReason } from "../../domain/chats/finish-reasons.js";
import type { MessagePart } from "../../domain/chats/message-parts.js";
import { costMicros } from "../../domain/usage/money.js";
import { nextAction, openCallsOf } from "../../domain/chats/next-action.js";
import type { Command } from "../../domain/chats/transition.js";
import { sleep } from "../../lib/clock.js";
import type { CallOutcome } from "../turn/call-model.js";
import { retryDelay } from "../turn/retry.js";
import { asHistory, type ChatRun, type PartialStep } from "./chat-run.js";
import { meteredModelCall } from "./metered-model-call.js";
import { withBudget } from "./with-budget.js";
import type { TurnContext } from "./turn-context.js";
import type { PreparedCall } from "./turn-model-context.js";

/** `overflow`: the vendor refused the prompt as too long; it is left to the caller. */
type ModelStepEnd = { overflow: ChatFailure | null };

/** `waitMs`: delay before the next attempt, once this one's call is billed; 0 = none. */
type CallEnd = ModelStepEnd & { waitMs: number };

const DONE: CallEnd = { overflow: null, waitMs: 0 };

/** Calls the model once. Apart from an overflow, the outcome is committed when this resolves. */
export async function takeModelStep(run: ChatRun, context: TurnContext): Promise<ModelStepEnd> {
  run.startStep();
  const prepared = await context.model.prepareCall(run.promptInput);
  if (!prepared.ok) return done(run.fail(prepared.failure));
  const { call } = prepared;
  const end = (await withBudget(run, call, () => callAndCommit(run, context, call))) ?? DONE;
  await waitForRetry(run, end.waitMs);
  return { overflow: end.overflow };
}

async function callAndCommit(run: ChatRun, context: TurnContext, call: PreparedCall): Promise<CallEnd> {
  if (!(await run.beginAttempt())) return DONE;
  const preamble = context.tools.preamble(run.history);
  const outcome = await meteredModelCall(run, call, { ports: run.ports(), preamble, purpose: "step" });
  const message = answerDraft(run, outcome, call);
  try {
    return await endModelStep(run, context, { outcome, message, call });
  } finally {
    const { config } = call.model;
    await run.billUnlessCommitted(message, { config, purpose: "step", usage: outcome.usage });
  }
}

type Called = { outcome: CallOutcome; message: MessageDraft; call: PreparedCall };

async function endModelStep(
  run: ChatRun,
  context: TurnContext,
  { outcome, message, call }: Called,
): Promise<CallEnd> {
  if (outcome.type === "failed") {
    if (outcome.failure.kind === "context_too_large" && run.abort.reason === null) {
      await context.model.learnLimit(call.model, outcome.contextLimit);
      return { overflow: outcome.failure, waitMs: 0 };
    }
  }
  const openCalls = openCallsOf(outcome.parts, context.tools.clientToolNames);
  // Notices alone are no answer: the next turn repeats those that still hold.
  const isAnswer = outcome.parts.some(({ type }) => type !== "notice");
  const partial = { messages: isAnswer ? [message] : [], openCalls };
  if (outcome.type === "failed") return { overflow: null, waitMs: await retryOrFail(run, outcome, partial) };
  if (outcome.type === "stopped") return done(run.releaseOrPersistPartial(partial));
  if (isEmpty(outcome) && !mayBeEmpty(run)) return done(askAgainOrFail(run));
  return done(commitAnswer(run, context, { message, openCalls, finishReason: outcome.finishReason }));
}

async function done(work: Promise<void>): Promise<CallEnd> {
  await work;
  return DONE;
}

type Answer = {
  message: MessageDraft;
  openCalls: ReturnType<typeof openCallsOf>;
  finishReason: FinishReason;
};

/** Commits the answer, and in the same transaction the end of the turn when nothing is left to do. */
async function commitAnswer(run: ChatRun, context: TurnContext, answer: Answer): Promise<void> {
  const { message, openCalls, finishReason } = answer;
  const fence = run.fence();
  const partial = { messages: [message], openCalls };
  const commands: Command[] = [{ type: "commit-step", fence, ...partial }];
  if (finishReason === "content-filter") commands.push({ type: "fail", fence, failure: CONTENT_FILTERED });
  else {
    const after = { openCalls, compactionRequestedAt: null };
    const next = nextAction(asHistory(run.history, message), after, await context.model.rules(run.history));
    if (next.type === "finish") commands.push({ type: "finish-turn", fence });
  }
  if (!(await run.commit(commands))) await run.finishInterrupt(partial);
}

/** Neither text nor calls, although nothing cut the answer off: reasoning alone is no answer. */
function isEmpty({ parts, finishReason }: CallOutcome & { type: "completed" }): boolean {
  if (finishReason === "length" || finishReason === "content-filter") return false;
  return !parts.some((part: MessagePart) =>
    part.type === "text" ? part.text.trim() !== "" : part.type === "tool-call",
  );
}

/** After tool results a model may have nothing to add: Claude ends such turns with an empty answer. */
function mayBeEmpty({ isAskedAgain, history }: ChatRun): boolean {
  return isAskedAgain && history.findLast(({ role }) => role !== "system")?.role === "tool";
}

/** Retries an empty answer once, at once, with a visible notice: it is mostly a hiccup of the vendor. */
async function askAgainOrFail(run: ChatRun): Promise<void> {
  if (run.abort.reason !== null) return run.releaseOrPersistPartial(run.emptyPartial());
  const { isAskedAgain, dependencies, chat } = run;
  dependencies.log.warn({ chatId: chat.chatId, isAskedAgain }, "empty model answer");
  if (isAskedAgain) return run.fail({ ...EMPTY_ANSWER, message: EMPTY_TWICE_TEXT });
  run.isAskedAgain = true;
  await recordImmediateRetry(run, EMPTY_ANSWER);
}

/**
 * Records a failed attempt: either the next one follows after a visible delay, or the turn fails. If a user has stopped
 * the turn meanwhile, `partial` is persisted. Returns the delay in milliseconds, for `waitForRetry`; 0 = none.
 */
export async function retryOrFail(
  run: ChatRun,
  outcome: CallOutcome & { type: "failed" },
  partial: PartialStep,
): Promise<number> {
  const { failure, retryAfterMs, cause } = outcome;
  const { log, random, telemetry } = run.dependencies;
  const { chatId } = run.chat;
  const delayMs = retryDelay(failure, run.state.attempt, retryAfterMs, random());
  const facts = { err: cause, chatId, failure, attempt: run.state.attempt };
  if (delayMs === null) log.warn(facts, "model call failed");
  else log.warn({ ...facts, delayMs }, "model call failed; retrying");
  if (run.abort.reason !== null) {
    await run.releaseOrPersistPartial(partial);
    return 0;
  }
  const fence = run.fence();
  const next: Command =
    delayMs === null ? { type: "fail", fence, failure } : { type: "record-retry", fence, delayMs, failure };
  if (!(await run.commit([next]))) {
    await run.finishInterrupt(partial);
    return 0;
  }
  if (delayMs === null) return 0;
  telemetry.meter.retry(failure.kind);
  return delayMs;
}

/** Resolves early when the turn is stopped. */
export async function waitForRetry(run: ChatRun, waitMs: number): Promise<void> {
  if (waitMs > 0) await sleep(run.dependencies.clock, waitMs, run.abort.signal);
}

/** Records a failed attempt whose retry follows at once, perhaps with a shorter prompt. False when an interrupt came first. */
export function recordImmediateRetry(run: ChatRun, cause: ChatFailure): Promise<boolean> {
  const failure = { ...cause, isRetryable: true };
  return run.commit([{ type: "record-retry", fence: run.fence(), delayMs: 0, failure }]);
}

function answerDraft(run: ChatRun, outcome: CallOutcome, { model }: PreparedCall): MessageDraft {
  return {
    role: "assistant",
    visibility: "both",
    parts: outcome.parts,
    usage: outcome.usage,
    costMicros: costMicros(outcome.usage, model.config.pricing),
    modelConfigId: model.config.id,
    runtimeMs: run.stepRuntimeMs,
    generation: run.generationId,
    finishReason: outcome.type === "completed" ? outcome.finishReason : null,
    responseId: outcome.type === "completed" ? outcome.responseId : null,
  };
}

const EMPTY_ANSWER: ChatFailure = {
  kind: "empty_answer",
  message: "The model answered with nothing. It is asked once more.",
  isRetryable: true,
};
const EMPTY_TWICE_TEXT =
  "The model answered with nothing, and again when it was asked once more. Try again, say it in other words, or choose another model.";

const CONTENT_FILTERED: ChatFailure = {
  kind: "content_filtered",
  message: "The provider's content filter stopped this answer.",
  isRetryable: false,
};
