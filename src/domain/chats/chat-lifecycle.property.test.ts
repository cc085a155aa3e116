/** Invariants of the lifecycle, which hold after every transition of random command sequences. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { ChatModel, textOf } from "../../../test/support/models/chat-model.js";
import { failure, NOW, userMessage } from "../../../test/support/chat-states.js";
import { transition } from "./chat-lifecycle.js";
import type { ChatState, ChatStatus, MessageDraft, OpenCall } from "./chat-state.js";
import type { MessagePart } from "./message-parts.js";
import type { Command, Fence, Write } from "./transition.js";

/** Milliseconds between two commands; some exceed the client's deadline. */
const STEP_MS = 60_000;

/** A random command; its exact meaning depends on the state it is applied to. */
type RandomCommand = {
  type: Command["type"];
  isUsual: boolean;
  pick: number;
  isStale: boolean;
  isBold: boolean;
};

const TYPES: Command["type"][] = [
  "send-message",
  "edit-message",
  "interrupt",
  "promote-queued",
  "delete-queued",
  "request-compaction",
  "retry",
  "clear-context",
  "submit-tool-results",
  "archive",
  "unarchive",
  "acquire",
  "begin-attempt",
  "record-retry",
  "commit-step",
  "await-client",
  "finish-turn",
  "finish-interrupt",
  "fail",
  "release",
  "expire",
  "set-title",
  "note-diff",
];

/** The command that advances a chat from each status. */
const USUAL: Record<ChatStatus, Command["type"][]> = {
  waiting: ["send-message", "send-message", "request-compaction", "clear-context"],
  pending: ["acquire"],
  running: ["begin-attempt", "commit-step", "commit-step", "await-client", "finish-turn", "record-retry"],
  interrupting: ["finish-interrupt"],
  requires_action: ["submit-tool-results", "expire"],
  error: ["send-message", "promote-queued", "retry", "retry"],
};

const randomCommands = fc.array(
  fc.record({
    type: fc.constantFrom(...TYPES),
    isUsual: fc.constantFrom(true, true, false),
    pick: fc.nat(7),
    isStale: fc.boolean(),
    isBold: fc.boolean(),
  }),
  { minLength: 1, maxLength: 60, size: "max" },
);

test("random command sequences keep the invariants of a chat's state", () => {
  fc.assert(
    fc.property(randomCommands, (life) => {
      const model = new ChatModel();
      life.forEach((random, step) => live(model, random, step));
    }),
    { numRuns: 300 },
  );
});

function live(model: ChatModel, random: RandomCommand, step: number): void {
  const before = model.state;
  const usual =
    before.isArchived && before.status !== "interrupting" ? ["unarchive" as const] : USUAL[before.status];
  const type = random.isUsual ? (usual[random.pick % usual.length] ?? random.type) : random.type;
  const command = commandOf(model, { ...random, type }, step);
  const result = transition(before, command, NOW + step * STEP_MS);
  if (result.outcome !== "changed") return;
  if (command.type === "send-message" || command.type === "edit-message")
    model.sent.add(textOf(command.message.parts));
  for (const write of result.writes) model.write(write);
  model.state = result.next;
  checkState(result.next);
  checkStep(before, command, result.next);
  checkRows(model, result.writes);
  checkGenerations(model, before, command);
}

function checkState(state: ChatState): void {
  const isClaimed = state.status === "running" || state.status === "interrupting";
  expect({
    workerId: state.workerId !== null,
    runnerId: state.runnerId !== null,
    deadline: state.actionDeadlineAt !== null,
    error: state.lastError !== null,
    retryOutsideOfRunning: state.retry !== null && state.status !== "running",
    isArchivedAndBusy: state.isArchived && ["pending", "running", "requires_action"].includes(state.status),
    newestVersion:
      Math.max(
        state.historyVersion,
        state.resetVersion,
        state.queueVersion,
        state.statusVersion,
        state.retryVersion,
      ) <= state.snapshotVersion,
    // Messages sent to interrupt come before all others in the queue.
    priority: state.queuedIds
      .slice(0, state.priorityIds.length)
      .filter((id) => !state.priorityIds.includes(id)),
    hasPriorityElsewhere: state.priorityIds.some((id) => !state.queuedIds.includes(id)),
    waitsForOurOwnCalls:
      state.status === "requires_action" &&
      (state.openCalls.length === 0 || state.openCalls.some((call) => !call.isClient)),
  }).toEqual({
    workerId: isClaimed,
    runnerId: isClaimed,
    deadline: state.status === "requires_action",
    error: state.status === "error",
    retryOutsideOfRunning: false,
    isArchivedAndBusy: false,
    newestVersion: true,
    priority: [],
    hasPriorityElsewhere: false,
    waitsForOurOwnCalls: false,
  });
}

function checkStep(before: ChatState, command: Command, after: ChatState): void {
  const isTaken = before.runnerId !== null && after.runnerId !== null && before.runnerId !== after.runnerId;
  const moved = (
    key: "historyVersion" | "resetVersion" | "queueVersion" | "statusVersion" | "retryVersion",
  ) => after[key] !== before[key] && after[key] !== after.snapshotVersion;
  expect({
    snapshot: after.snapshotVersion,
    isClaimedTwice: isTaken && !(command.type === "acquire" && command.isLeaseDead),
    oddVersions: (
      ["historyVersion", "resetVersion", "queueVersion", "statusVersion", "retryVersion"] as const
    ).filter(moved),
    silentStatus: after.status !== before.status && after.statusVersion !== after.snapshotVersion,
    silentRetry:
      (after.retry !== null) !== (before.retry !== null) && after.retryVersion !== after.snapshotVersion,
    silentQueue:
      after.queuedIds.join() !== before.queuedIds.join() && after.queueVersion !== after.snapshotVersion,
  }).toEqual({
    snapshot: before.snapshotVersion + 1,
    isClaimedTwice: false,
    oddVersions: [],
    silentStatus: false,
    silentRetry: false,
    silentQueue: false,
  });
  checkTurns(before, command, after);
}

/** The order is preserved among interrupting messages, and among the others. */
function checkTurns(before: ChatState, command: Command, after: ChatState): void {
  if (command.type === "promote-queued") return;
  const order = (state: ChatState, among: (id: string) => boolean) => state.queuedIds.filter(among).join();
  const stillWaits = (id: string) => before.queuedIds.includes(id) && after.queuedIds.includes(id);
  expect(order(after, stillWaits)).toBe(order(before, stillWaits));
  const isNew = (id: string) => !before.queuedIds.includes(id);
  const fresh = after.queuedIds.findIndex(isNew);
  if (command.type !== "send-message" || fresh < 0) return;
  const first = command.whenBusy === "interrupt" ? after.priorityIds.length : after.queuedIds.length;
  expect(fresh).toBe(first - 1);
}

function checkRows(model: ChatModel, writes: Write[]): void {
  const { state } = model;
  const changesHistory = writes.some(({ type }) =>
    ["insert-messages", "promote", "delete-from"].includes(type),
  );
  const known = new Set([...model.userTexts, ...model.queue.values(), ...model.takenAway]);
  expect({
    queue: [...state.queuedIds].sort(),
    openCalls: state.openCalls.map((call) => call.toolCallId),
    lost: [...model.sent].filter((text) => !known.has(text)),
    promotedWhileArchived: state.isArchived && writes.some(({ type }) => type === "promote"),
    silentHistory: changesHistory && state.historyVersion !== state.snapshotVersion,
  }).toEqual({
    queue: [...model.queue.keys()].sort(),
    openCalls: model.unanswered,
    lost: [],
    promotedWhileArchived: false,
    silentHistory: false,
  });
}

/** An ended preview never becomes live again, and no attempt writes under an older generation. */
function checkGenerations(model: ChatModel, before: ChatState, command: Command): void {
  const [old, fresh] = [liveName(before), liveName(model.state)];
  if (old !== null && old !== fresh) model.over.add(old);
  expect(fresh !== null && model.over.has(fresh), `${fresh} lives again after ${command.type}`).toBe(false);
  if (command.type !== "begin-attempt") return;
  expect(model.begun.has(fresh ?? ""), `${fresh} is begun twice`).toBe(false);
  model.begun.add(fresh ?? "");
}

function liveName(state: ChatState): string | null {
  const isWriting = state.status === "running" || state.status === "interrupting";
  return isWriting && state.retry === null ? `${state.historyVersion}_${state.attempt}` : null;
}

function commandOf(model: ChatModel, { type, pick, isStale, isBold }: RandomCommand, step: number): Command {
  const { state } = model;
  const queuedId = state.queuedIds[pick] ?? state.queuedIds[0] ?? "none";
  const isLate = isStale && pick === 0;
  const fence: Fence = {
    runnerId: isLate ? "another-runner" : (state.runnerId ?? "nobody"),
    historyVersion: state.historyVersion,
  };
  const message = userMessage(`sent in step ${step}`);
  switch (type) {
    case "send-message":
      return { type, whenBusy: isBold ? "interrupt" : "queue", message, queuedId: `queued-${step}` };
    case "edit-message":
      return { type, messageId: `${model.users[pick % model.users.length]}`, message };
    case "promote-queued":
    case "delete-queued":
      return { type, queuedId };
    case "set-title":
      return {
        type,
        title: `Title ${pick}`,
        source: isBold ? "person" : "model",
        ...(isStale ? { onlyIf: { title: "x", titleSource: "person" as const } } : {}),
      };
    case "clear-context":
      return { type, messages: [{ role: "system", visibility: "both", parts: [] }] };
    case "submit-tool-results": {
      const results = state.openCalls.map(({ toolCallId }) => ({
        toolCallId,
        result: pick,
        isError: isBold,
      }));
      return { type, results: isLate ? results.slice(1) : results };
    }
    case "acquire":
      return { type, workerId: `worker-${pick}`, runnerId: `runner-${step}`, isLeaseDead: isBold };
    case "record-retry":
      return { type, fence, delayMs: pick, failure };
    case "commit-step":
    case "finish-interrupt":
      return { type, fence, ...stepOf(state, { pick, isBold }, step) };
    case "fail":
      return { type, fence, failure };
    case "begin-attempt":
    case "await-client":
    case "finish-turn":
    case "release":
      return { type, fence };
    case "retry": {
      const answer = model.answers.at(-1);
      if (!isBold || answer === undefined) return { type };
      const historyVersion = isLate ? state.historyVersion - 1 : state.historyVersion;
      return { type, without: { messageId: `${answer}`, historyVersion } };
    }
    case "interrupt":
    case "request-compaction":
    case "archive":
    case "unarchive":
    case "note-diff":
    case "expire":
      return { type };
  }
}

/** Results of some open calls, or an answer that may ask for tools. */
function stepOf(
  { openCalls: open }: ChatState,
  { pick, isBold }: Pick<RandomCommand, "pick" | "isBold">,
  step: number,
): { messages: MessageDraft[]; openCalls: OpenCall[] } {
  if (open.length > 0) {
    const finished = open.slice(0, pick % (open.length + 1));
    const parts = finished.map(({ toolCallId, toolName }): MessagePart => ({
      type: "tool-result",
      toolCallId,
      toolName,
      result: pick,
      isError: false,
    }));
    const messages: MessageDraft[] = parts.length > 0 ? [{ role: "tool", visibility: "both", parts }] : [];
    return { messages, openCalls: open.slice(finished.length) };
  }
  const openCalls = Array.from({ length: Math.max(0, pick - 4) }, (_, index): OpenCall => ({
    toolCallId: `call-${step}-${index}`,
    toolName: "tool",
    isClient: isBold,
  }));
  const calls = openCalls.map(({ toolCallId, toolName }): MessagePart => ({
    type: "tool-call",
    toolCallId,
    toolName,
    arguments: {},
  }));
  const text: MessagePart = { type: "text", text: `answered in step ${step}` };
  return { messages: [{ role: "assistant", visibility: "both", parts: [text, ...calls] }], openCalls };
}
