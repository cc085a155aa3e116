/**
 * Compaction of history into a summary: one model call, shown to users as "summarising…", then one commit of the
 * summary and its notice. A failed automatic summary never fails the turn, which goes on with the whole history.
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
import { recordImmediateRetry, retryOrFail, waitForRetry } from "./model-step.js";
import type { ChatRun } from "./chat-run.js";
import { meteredModelCall } from "./metered-model-call.js";
import { withBudget } from "./with-budget.js";
import type { TurnContext } from "./turn-context.js";
import type { PreparedCall } from "./turn-model-context.js";

/** Tries of one summary, each a model call; fewer than for an answer, since a turn may go on without a summary. */
const MAX_TRIES = 3;

/** `level`: how far the prompt is shortened, one more after each refusal of its length. `tries`: so far. */
export type SummaryTask = { source: CompactionSource; level: number; tries: number };

/** `again`: the next try may begin. `without`: the turn goes on without a summary. */
type CompactionEnd = { type: "done" } | { type: "again"; task: SummaryTask } | { type: "without" };

/** `waitMs`: delay before the next try, once this one's call is billed; 0 = none. */
type CallEnd =
  Exclude<CompactionEnd, { type: "again" }> | { type: "again"; task: SummaryTask; waitMs: number };

/** Makes one try, whose outcome is committed when this resolves. */
export async function takeCompactionStep(
  run: ChatRun,
  context: TurnContext,
  task: SummaryTask,
): Promise<CompactionEnd> {
  run.startStep();
  const prepared = await context.model.prepareSummary(run.promptInput, task.level);
  if (!prepared.ok) return done(run.fail(prepared.failure));
  const { call } = prepared;
  const end = await withBudget(run, call, () => callAndCommit(run, context, { task, call }));
  if (end?.type !== "again") return end ?? { type: "done" };
  await waitForRetry(run, end.waitMs);
  return { type: "again", task: end.task };
}

async function callAndCommit(
  run: ChatRun,
  context: TurnContext,
  { task, call }: { task: SummaryTask; call: PreparedCall },
): Promise<CallEnd> {
  if (!(await run.beginAttempt())) return { type: "done" };
  const facts = await noticeFacts(run, context, task.source);
  const notice = new Notice(run.ports(), facts);
  // The summary itself is for the model only; users see the notice.
  const ports = { ...run.ports(), publish: () => undefined };
  const outcome = await meteredModelCall(run, call, { ports, purpose: "compaction" });
  const summary = outcome.type === "completed" ? textOf(outcome.parts) : "";
  run.dependencies.telemetry.meter.compaction({
    source: task.source,
    outcome: summary === "" ? "error" : "ok",
  });
  const draft =
    summary === ""
      ? null
      : noticeDraft(run, notice.end({ ...facts, summary }), { usage: outcome.usage, call });
  try {
    if (outcome.type === "stopped") return await done(run.releaseOrPersistPartial(run.emptyPartial()));
    if (draft) return await done(commitSummary(run, task.source, [summaryDraft(summary), draft]));
    const failed = outcome.type === "failed" ? outcome : EMPTY_SUMMARY;
    if (run.abort.reason !== null) return await done(run.releaseOrPersistPartial(run.emptyPartial()));
    return await afterFailure(run, context, { task, failed, notice, call });
  } finally {
    const { config } = call.model;
    await run.billUnlessCommitted(draft, { config, purpose: "compaction", usage: outcome.usage });
  }
}

async function done(work: Promise<void>): Promise<{ type: "done" }> {
  await work;
  return { type: "done" };
}

/** What the notice shows besides the summary itself. */
async function noticeFacts(
  run: ChatRun,
  context: TurnContext,
  source: CompactionSource,
): Promise<JsonObject> {
  const { contextLimit, compactionThresholdPercent } = await context.model.rules(run.history);
  return {
    source,
    thresholdPercent: compactionThresholdPercent,
    contextTokens: contextUse(run.history),
    contextLimitTokens: contextLimit,
  };
}

type Failure = {
  task: SummaryTask;
  failed: CallOutcome & { type: "failed" };
  notice: Notice;
  call: PreparedCall;
};

async function afterFailure(run: ChatRun, context: TurnContext, failure: Failure): Promise<CallEnd> {
  const { failed, call } = failure;
  const task = { ...failure.task, tries: failure.task.tries + 1 };
  if (task.tries < MAX_TRIES) {
    if (failed.failure.kind === "context_too_large") {
      await context.model.learnLimit(call.model, failed.contextLimit);
      await recordImmediateRetry(run, failed.failure);
      return { type: "again", task: { ...task, level: task.level + 1 }, waitMs: 0 };
    }
    if (failed.failure.isRetryable) {
      return { type: "again", task, waitMs: await retryOrFail(run, failed, run.emptyPartial()) };
    }
  }
  if (task.source !== "automatic") return done(run.fail(failed.failure));
  await continueWithoutSummary(run, failure);
  return { type: "without" };
}

/** Shows users why there is no summary; the turn goes on with the whole history. */
async function continueWithoutSummary(run: ChatRun, { failed, notice, call }: Failure): Promise<void> {
  const { log } = run.dependencies;
  log.warn(
    { err: failed.cause, chatId: run.chat.chatId, failure: failed.failure },
    "summary failed; turn continues without it",
  );
  const parts = notice.end({ error: failed.failure.message }, true);
  const messages = [noticeDraft(run, parts, { usage: null, call })];
  await run.commit([{ type: "commit-step", fence: run.fence(), messages, openCalls: [] }]);
}

/** A summary that a user asked for ends the turn; any other is in the middle of one. */
async function commitSummary(
  run: ChatRun,
  source: CompactionSource,
  messages: MessageDraft[],
): Promise<void> {
  const fence = run.fence();
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
  if (!(await run.commit(next))) await run.finishInterrupt({ messages, openCalls: [] });
}

/** Live notice of a summary: its call is published before the slow work, its result before the commit. */
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
    this.#publish(0, this.#parts(null, false));
  }

  /** Publishes the result, and returns the parts to store. */
  end(result: JsonValue, isError = false): MessagePart[] {
    const parts = this.#parts(result, isError);
    this.#publish(1, parts);
    return parts;
  }

  #parts(result: JsonValue, isError: boolean): MessagePart[] {
    const times = { startedAt: this.#startedAt, durationMs: this.#ports.clock.now() - this.#startedAt };
    const content = { arguments: this.#arguments, result, isError, ...times };
    return noticeParts(CHAT_SUMMARIZED, this.#toolCallId, content);
  }

  #publish(partIndex: number, parts: MessagePart[]): void {
    const delta = parts[partIndex];
    if (delta?.type !== "tool-call" && delta?.type !== "tool-result") return;
    this.#ports.publish([{ sequence: partIndex + 1, role: "assistant", partIndex, delta }]);
  }
}

function noticeDraft(
  run: ChatRun,
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
    runtimeMs: run.stepRuntimeMs,
    generation: run.generationId,
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
