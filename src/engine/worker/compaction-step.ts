/**
 * Folds history into a summary: one model call that people see as "summarising…", then the boundary and its notice in
 * one commit. A summary that cannot be had never costs a turn that could go on without it.
 */
import { randomUUID } from "node:crypto";
import type { MessageDraft } from "../../domain/chats/chat-state.js";
import {
  CHAT_SUMMARIZED,
  contextUse,
  noticeParts,
  summaryDraft,
  type CompactionSource,
} from "../../domain/chats/compaction.js";
import type { ChatFailure } from "../../domain/common/failures.js";
import type { JsonObject, JsonValue } from "../../domain/common/json.js";
import type { MessagePart, TokenUsage } from "../../domain/chats/message-parts.js";
import { costMicros } from "../../domain/usage/money.js";
import type { Command } from "../../domain/chats/transition.js";
import type { CallOutcome } from "../turn/call-model.js";
import type { TurnPorts } from "../turn/ports.js";
import { noticeRefusal, retryOrFail, waitForRetry } from "./model-step.js";
import type { ChatRun } from "./chat-run.js";
import { meteredModelCall } from "./metered-model-call.js";
import { withBudget } from "./with-budget.js";
import type { PreparedCall, TurnContext } from "./turn-context.js";

/** Tries of one summary, each a model call; fewer than of an answer, since a turn may go on without it. */
const MAX_TRIES = 3;

/** What is asked for; how short the prompt must be, one level more after each refusal of its length; tries so far. */
export type SummaryTask = { source: CompactionSource; level: number; tries: number };

/** `again`: the next try may begin. `without`: there is no summary, and the turn goes on without one. */
export type CompactionEnd = { type: "done" } | { type: "again"; task: SummaryTask } | { type: "without" };

/** `waitMs`: before the next try, once this one's call is billed; 0 = not at all. */
type CallEnd =
  Exclude<CompactionEnd, { type: "again" }> | { type: "again"; task: SummaryTask; waitMs: number };

/** One try. Whatever came of it is committed when this resolves. */
export async function takeCompactionStep(
  hold: ChatRun,
  context: TurnContext,
  task: SummaryTask,
): Promise<CompactionEnd> {
  hold.startStep();
  const prepared = await context.prepareSummary(hold.moment, task.level);
  if (!prepared.ok) return done(hold.fail(prepared.failure));
  const { call } = prepared;
  const end = await withBudget(hold, call, () => callAndCommit(hold, context, { task, call }));
  if (end?.type !== "again") return end ?? { type: "done" };
  await waitForRetry(hold, end.waitMs);
  return { type: "again", task: end.task };
}

async function callAndCommit(
  hold: ChatRun,
  context: TurnContext,
  { task, call }: { task: SummaryTask; call: PreparedCall },
): Promise<CallEnd> {
  if (!(await hold.beginAttempt())) return { type: "done" };
  const facts = await factsOf(hold, context, task.source);
  const notice = new Notice(hold.ports(), facts);
  // The summary itself is for the model; people see the notice.
  const ports = { ...hold.ports(), publish: () => undefined };
  const outcome = await meteredModelCall(hold, call, { ports, purpose: "compaction" });
  const summary = outcome.type === "completed" ? textOf(outcome.parts) : "";
  hold.parts.meter.compaction({ source: task.source, outcome: summary === "" ? "error" : "ok" });
  const draft =
    summary === ""
      ? null
      : noticeDraft(hold, notice.end({ ...facts, summary }), { usage: outcome.usage, call });
  try {
    if (outcome.type === "stopped") return await done(hold.releaseOrPersistPartial(hold.emptyPartial()));
    if (draft) return await done(commitSummary(hold, task.source, [summaryDraft(summary), draft]));
    const failed = outcome.type === "failed" ? outcome : EMPTY_SUMMARY;
    if (hold.switch.reason !== null) return await done(hold.releaseOrPersistPartial(hold.emptyPartial()));
    return await afterFailure(hold, context, { task, failed, notice, call });
  } finally {
    const { config } = call.model;
    await hold.billUnlessKept(draft, { config, purpose: "compaction", usage: outcome.usage });
  }
}

async function done(work: Promise<void>): Promise<{ type: "done" }> {
  await work;
  return { type: "done" };
}

/** What the notice tells besides the summary itself. */
async function factsOf(hold: ChatRun, context: TurnContext, source: CompactionSource): Promise<JsonObject> {
  const { contextLimit, compactionThresholdPercent } = await context.rules(hold.history);
  return {
    source,
    thresholdPercent: compactionThresholdPercent,
    contextTokens: contextUse(hold.history),
    contextLimitTokens: contextLimit,
  };
}

type Failure = {
  task: SummaryTask;
  failed: CallOutcome & { type: "failed" };
  notice: Notice;
  call: PreparedCall;
};

async function afterFailure(hold: ChatRun, context: TurnContext, failure: Failure): Promise<CallEnd> {
  const { failed, call } = failure;
  const task = { ...failure.task, tries: failure.task.tries + 1 };
  if (task.tries < MAX_TRIES) {
    if (failed.failure.kind === "context_too_large") {
      await context.learnLimit(call.model, failed.contextLimit);
      await noticeRefusal(hold, failed.failure);
      return { type: "again", task: { ...task, level: task.level + 1 }, waitMs: 0 };
    }
    if (failed.failure.isRetryable) {
      return { type: "again", task, waitMs: await retryOrFail(hold, failed, hold.emptyPartial()) };
    }
  }
  if (task.source !== "automatic") return done(hold.fail(failed.failure));
  await goOnWithout(hold, failure);
  return { type: "without" };
}

/** People see that there is no summary and why; the turn goes on with the whole history. */
async function goOnWithout(hold: ChatRun, { failed, notice, call }: Failure): Promise<void> {
  const { log } = hold.parts;
  log.warn(
    { err: failed.cause, chatId: hold.chat.chatId, failure: failed.failure },
    "A summary could not be made",
  );
  const parts = notice.end({ error: failed.failure.message }, true);
  const messages = [noticeDraft(hold, parts, { usage: null, call })];
  await hold.commit([{ type: "commit-step", fence: hold.fence(), messages, openCalls: [] }]);
}

/** After a summary that a person asked for the chat rests; any other is the middle of a turn. */
async function commitSummary(
  hold: ChatRun,
  source: CompactionSource,
  messages: MessageDraft[],
): Promise<void> {
  const fence = hold.fence();
  const next: Command[] =
    source === "manual"
      ? [
          { type: "commit-step", fence, messages, openCalls: [], settlesCompaction: true },
          { type: "finish-turn", fence },
        ]
      : [
          { type: "commit-step", fence, messages, openCalls: [] },
          { type: "begin-attempt", fence },
        ];
  if (!(await hold.commit(next))) await hold.finishInterrupt({ messages, openCalls: [] });
}

/** The notice while it is being made: its call is shown before the slow work, its result before the commit. */
class Notice {
  readonly #toolCallId = `summary_${randomUUID()}`;
  readonly #ports: TurnPorts;
  readonly #arguments: JsonObject;
  readonly #startedAt: number;

  constructor(ports: TurnPorts, facts: JsonObject) {
    this.#ports = ports;
    this.#startedAt = ports.clock.now();
    this.#arguments = {
      source: facts["source"] ?? null,
      thresholdPercent: facts["thresholdPercent"] ?? null,
    };
    this.#show(0, this.#parts(null, false));
  }

  /** Shows how it ended, and returns what is to be kept of it. */
  end(result: JsonValue, isError = false): MessagePart[] {
    const parts = this.#parts(result, isError);
    this.#show(1, parts);
    return parts;
  }

  #parts(result: JsonValue, isError: boolean): MessagePart[] {
    const times = { startedAt: this.#startedAt, durationMs: this.#ports.clock.now() - this.#startedAt };
    const said = { arguments: this.#arguments, result, isError, ...times };
    return noticeParts(CHAT_SUMMARIZED, this.#toolCallId, said);
  }

  #show(partIndex: number, parts: MessagePart[]): void {
    const piece = parts[partIndex];
    if (piece?.type !== "tool-call" && piece?.type !== "tool-result") return;
    this.#ports.publish([{ sequence: partIndex + 1, role: "assistant", partIndex, delta: piece }]);
  }
}

function noticeDraft(
  hold: ChatRun,
  parts: MessagePart[],
  { usage, call }: { usage: TokenUsage | null; call: PreparedCall },
): MessageDraft {
  return {
    role: "assistant",
    visibility: "user",
    parts,
    usage,
    costMicros: costMicros(usage, call.model.config.pricing),
    modelConfigId: call.model.config.id,
    runtimeMs: hold.stepRuntimeMs,
    generation: hold.generationId,
    isSummary: true,
  };
}

function textOf(parts: MessagePart[]): string {
  return parts
    .map((part) => (part.type === "text" ? part.text : ""))
    .join("")
    .trim();
}

const NO_SUMMARY: ChatFailure = {
  kind: "generic",
  message: "The model was asked for a summary and said nothing.",
  isRetryable: true,
};
const EMPTY_SUMMARY: CallOutcome & { type: "failed" } = {
  type: "failed",
  failure: NO_SUMMARY,
  parts: [],
  usage: null,
  retryAfterMs: undefined,
  contextLimit: undefined,
  cause: undefined,
};
