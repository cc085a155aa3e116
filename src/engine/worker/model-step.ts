/** The first half of a step: the model is asked, and its answer committed as soon as it has ended. */
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
import type { PreparedCall, TurnContext } from "./turn-context.js";

/** `overflow`: the vendor refused the prompt as too long, and nothing has been done about it yet. */
export type ModelStepEnd = { overflow: ChatFailure | null };

/** `waitMs`: before the next attempt, once this one's call is billed; 0 = not at all. */
type CallEnd = ModelStepEnd & { waitMs: number };

const DONE: CallEnd = { overflow: null, waitMs: 0 };

/** Asks the model once. Whatever else came of it is committed when this resolves. */
export async function takeModelStep(hold: ChatRun, context: TurnContext): Promise<ModelStepEnd> {
  hold.startStep();
  const prepared = await context.prepareCall(hold.moment);
  if (!prepared.ok) return done(hold.fail(prepared.failure));
  const { call } = prepared;
  const end = (await withBudget(hold, call, () => callAndCommit(hold, context, call))) ?? DONE;
  await waitForRetry(hold, end.waitMs);
  return { overflow: end.overflow };
}

async function callAndCommit(hold: ChatRun, context: TurnContext, call: PreparedCall): Promise<CallEnd> {
  if (!(await hold.beginAttempt())) return DONE;
  const preamble = context.preamble(hold.history);
  const outcome = await meteredModelCall(hold, call, { ports: hold.ports(), preamble, purpose: "step" });
  const message = answerDraft(hold, outcome, call);
  try {
    return await endModelStep(hold, context, { outcome, message, call });
  } finally {
    const { config } = call.model;
    await hold.billUnlessKept(message, { config, purpose: "step", usage: outcome.usage });
  }
}

type Called = { outcome: CallOutcome; message: MessageDraft; call: PreparedCall };

async function endModelStep(
  hold: ChatRun,
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
  if (outcome.type === "stopped") return done(hold.releaseOrPersistPartial(kept));
  if (isEmpty(outcome) && !mayBeEmpty(hold)) return done(askAgainOrFail(hold));
  return done(commitAnswer(hold, context, { message, openCalls, finishReason: outcome.finishReason }));
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

/** The answer, and in the same transaction the end of the turn when nothing is left to do. */
async function commitAnswer(hold: ChatRun, context: TurnContext, answer: Answer): Promise<void> {
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

/** Neither words nor calls, although nothing cut the answer: thoughts alone are no answer to a person. */
function isEmpty({ parts, finishReason }: CallOutcome & { type: "completed" }): boolean {
  if (finishReason === "length" || finishReason === "content-filter") return false;
  return !parts.some((part: MessagePart) =>
    part.type === "text" ? part.text.trim() !== "" : part.type === "tool-call",
  );
}

/** Having done its work with tools, a model may have nothing to add: Claude ends such turns without a word. */
function mayBeEmpty({ isAskedAgain, history }: ChatRun): boolean {
  return isAskedAgain && history.findLast(({ role }) => role !== "system")?.role === "tool";
}

/** An empty answer is mostly a hiccup of the vendor: it is asked for once more, at once, and everybody sees why. */
async function askAgainOrFail(hold: ChatRun): Promise<void> {
  if (hold.switch.reason !== null) return hold.releaseOrPersistPartial(hold.emptyPartial());
  const { isAskedAgain, parts, chat } = hold;
  parts.log.warn({ chatId: chat.chatId, isAskedAgain }, "A model answered with nothing");
  if (isAskedAgain) return hold.fail({ ...EMPTY_ANSWER, message: EMPTY_TWICE_TEXT });
  hold.isAskedAgain = true;
  await noticeRefusal(hold, EMPTY_ANSWER);
}

/**
 * A failed attempt: the next one after a wait that everybody sees, or the end of the turn. A person who has stopped
 * the turn meanwhile keeps what they saw: `kept`. Returns the wait in milliseconds, for `waitForRetry`; 0 = none.
 */
export async function retryOrFail(
  hold: ChatRun,
  outcome: CallOutcome & { type: "failed" },
  kept: PartialStep,
): Promise<number> {
  const { failure, retryAfterMs, cause } = outcome;
  const { log, random } = hold.parts;
  const { chatId } = hold.chat;
  const delayMs = retryDelay(failure, hold.state.attempt, retryAfterMs, random());
  log.warn({ err: cause, chatId, failure, attempt: hold.state.attempt, delayMs }, "A model call failed");
  if (hold.switch.reason !== null) {
    await hold.releaseOrPersistPartial(kept);
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
export async function waitForRetry(hold: ChatRun, waitMs: number): Promise<void> {
  if (waitMs > 0) await sleep(hold.parts.clock, waitMs, hold.switch.signal);
}

/** The next attempt is made at once: with a shorter prompt after one that was refused, or just once more. False when an interrupt came first. */
export function noticeRefusal(hold: ChatRun, refusal: ChatFailure): Promise<boolean> {
  const failure = { ...refusal, isRetryable: true };
  return hold.commit([{ type: "record-retry", fence: hold.fence(), delayMs: 0, failure }]);
}

function answerDraft(hold: ChatRun, outcome: CallOutcome, { model }: PreparedCall): MessageDraft {
  return {
    role: "assistant",
    visibility: "both",
    parts: outcome.parts,
    usage: outcome.usage,
    costMicros: costMicros(outcome.usage, model.config.pricing),
    modelConfigId: model.config.id,
    runtimeMs: hold.stepRuntimeMs,
    generation: hold.generationId,
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
