/**
 * Folds history into a summary: one model call that people see as "summarising…", then the boundary and its notice in
 * one commit. A summary that cannot be had never costs a turn that could go on without it.
 */
import { randomUUID } from "node:crypto";
import type { MessageDraft } from "../../domain/chat-state.js";
import {
  CHAT_SUMMARIZED,
  lastUsage,
  noticeParts,
  summaryDraft,
  type CompactionSource,
} from "../../domain/compaction.js";
import { contextTokens } from "../../domain/context-window.js";
import type { ChatFailure } from "../../domain/failures.js";
import type { JsonObject, JsonValue } from "../../domain/json.js";
import type { MessagePart, TokenUsage } from "../../domain/message-parts.js";
import type { Command } from "../../domain/transition.js";
import { callModel, type CallOutcome } from "../turn/call-model.js";
import type { TurnPorts } from "../turn/ports.js";
import { noticeRefusal, retryOrFail } from "./model-step.js";
import type { Hold } from "./hold.js";
import type { PreparedCall, TurnContext } from "./turn-context.js";

/** Tries of one summary, each a model call; fewer than of an answer, since a turn may go on without it. */
const MAX_TRIES = 3;

/** What is asked for; how short the prompt must be, one level more after each refusal of its length; tries so far. */
export type SummaryTask = { source: CompactionSource; level: number; tries: number };

/** `again`: the next try may begin. `without`: there is no summary, and the turn goes on without one. */
export type CompactionEnd = { type: "done" } | { type: "again"; task: SummaryTask } | { type: "without" };

/** One try. Whatever came of it is committed when this resolves. */
export async function takeCompactionStep(
  hold: Hold,
  context: TurnContext,
  task: SummaryTask,
): Promise<CompactionEnd> {
  hold.startStep();
  const prepared = await context.prepareSummary(hold.history, task.level);
  if (!prepared.ok) return done(hold.fail(prepared.failure));
  if (!(await hold.beginAttempt())) return { type: "done" };
  const facts = await factsOf(hold, context, task.source);
  const notice = new Notice(hold.ports(), facts);
  const outcome = await callModel(prepared.call.open, hold.switch.signal, {
    ...hold.ports(),
    announce: () => undefined, // The summary itself is for the model; people see the notice.
  });
  if (outcome.type === "stopped") return done(hold.giveUp(hold.keepNothing()));
  const summary = outcome.type === "completed" ? textOf(outcome.parts) : "";
  if (outcome.type === "completed" && summary !== "") {
    const message = notice.end({ ...facts, summary });
    const draft = noticeDraft(hold, message, { usage: outcome.usage, call: prepared.call });
    return done(commitSummary(hold, task.source, [summaryDraft(summary), draft]));
  }
  const failed = outcome.type === "failed" ? outcome : EMPTY_SUMMARY;
  if (hold.switch.reason !== null) return done(hold.giveUp(hold.keepNothing()));
  return afterFailure(hold, context, { task, failed, notice, call: prepared.call });
}

async function done(work: Promise<void>): Promise<CompactionEnd> {
  await work;
  return { type: "done" };
}

/** What the notice tells besides the summary itself. */
async function factsOf(hold: Hold, context: TurnContext, source: CompactionSource): Promise<JsonObject> {
  const { contextLimit, compactionThresholdPercent } = await context.rules(hold.history);
  const usage = lastUsage(hold.history);
  return {
    source,
    thresholdPercent: compactionThresholdPercent,
    contextTokens: usage && contextTokens(usage),
    contextLimitTokens: contextLimit,
  };
}

type Failure = {
  task: SummaryTask;
  failed: CallOutcome & { type: "failed" };
  notice: Notice;
  call: PreparedCall;
};

async function afterFailure(hold: Hold, context: TurnContext, failure: Failure): Promise<CompactionEnd> {
  const { failed, call } = failure;
  const task = { ...failure.task, tries: failure.task.tries + 1 };
  if (task.tries < MAX_TRIES) {
    if (failed.failure.kind === "context_too_large") {
      await context.learnLimit(call.model, failed.contextLimit);
      await noticeRefusal(hold, failed.failure);
      return { type: "again", task: { ...task, level: task.level + 1 } };
    }
    if (failed.failure.isRetryable) {
      await retryOrFail(hold, failed, hold.keepNothing());
      return { type: "again", task };
    }
  }
  if (task.source !== "automatic") return done(hold.fail(failed.failure));
  await goOnWithout(hold, failure);
  return { type: "without" };
}

/** People see that there is no summary and why; the turn goes on with the whole history. */
async function goOnWithout(hold: Hold, { failed, notice, call }: Failure): Promise<void> {
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
async function commitSummary(hold: Hold, source: CompactionSource, messages: MessageDraft[]): Promise<void> {
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

  constructor(ports: TurnPorts, facts: JsonObject) {
    this.#ports = ports;
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
    return noticeParts(CHAT_SUMMARIZED, this.#toolCallId, { arguments: this.#arguments, result, isError });
  }

  #show(partIndex: number, parts: MessagePart[]): void {
    const piece = parts[partIndex];
    if (piece?.type !== "tool-call" && piece?.type !== "tool-result") return;
    this.#ports.announce([{ sequence: partIndex + 1, role: "assistant", partIndex, piece }]);
  }
}

function noticeDraft(
  hold: Hold,
  parts: MessagePart[],
  { usage, call }: { usage: TokenUsage | null; call: PreparedCall },
): MessageDraft {
  return {
    role: "assistant",
    visibility: "user",
    parts,
    usage,
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
