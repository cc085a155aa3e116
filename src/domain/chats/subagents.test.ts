import { expect, test } from "vitest";
import type { ChatStatus } from "./chat-state.js";
import type { MessagePart, MessageRole } from "./message-parts.js";
import {
  MAX_BUSY_SUBAGENTS,
  MAX_FAMILY_SUBAGENTS,
  mayHaveSubagents,
  type Relative,
  spawnRefusal,
  agentStatusOf,
  type SubagentKind,
} from "./subagents.js";

const kinds: { kind: SubagentKind | null; depth: number; max: number; may: boolean }[] = [
  { kind: null, depth: 0, max: 0, may: false },
  { kind: null, depth: 0, max: 1, may: true },
  { kind: "general", depth: 1, max: 1, may: false },
  { kind: "general", depth: 1, max: 2, may: true },
  { kind: "general", depth: 2, max: 2, may: false },
  { kind: "explore", depth: 1, max: 8, may: false },
];

test.each(kinds)("a chat of kind $kind at depth $depth may have subagents up to depth $max: $may", (it) => {
  expect(mayHaveSubagents({ depth: it.depth, subagentKind: it.kind }, it.max)).toBe(it.may);
});

const self: Relative = {
  chatId: "me",
  parentId: null,
  status: "running",
  isArchived: false,
  runnerId: "claim-1",
};
const child = (status: ChatStatus, index = 0): Relative => ({
  ...self,
  ...{ chatId: `child-${index}`, parentId: "me", status, runnerId: null },
});
const children = (count: number, status: ChatStatus) =>
  Array.from({ length: count }, (_, index) => child(status, index));
const caller = { chatId: "me", runnerId: "claim-1", depth: 0, subagentKind: null };

const spawns: { when: string; family: Relative[]; maxDepth?: number; refusal: string | null }[] = [
  { when: "nothing is in the way", family: [self], refusal: null },
  { when: "subagents are disabled", family: [self], maxDepth: 0, refusal: "may not start subagents" },
  { when: "its turn is being stopped", family: [{ ...self, status: "interrupting" }], refusal: "stopped" },
  {
    when: "its turn was handed back",
    family: [{ ...self, status: "pending", runnerId: null }],
    refusal: "stopped",
  },
  { when: "another claim runs it", family: [{ ...self, runnerId: "claim-2" }], refusal: "stopped" },
  { when: "it is archived", family: [{ ...self, isArchived: true }], refusal: "stopped" },
  { when: "it is gone", family: [], refusal: "stopped" },
  {
    when: "one less than the most is busy",
    family: [self, ...children(MAX_BUSY_SUBAGENTS - 1, "running")],
    refusal: null,
  },
  {
    when: "the most are busy",
    family: [self, ...children(MAX_BUSY_SUBAGENTS, "pending")],
    refusal: "at work already",
  },
  {
    when: "others' are busy",
    family: [self, ...children(MAX_BUSY_SUBAGENTS, "running").map((it) => ({ ...it, parentId: "child-0" }))],
    refusal: null,
  },
  {
    when: "one less than the most has been",
    family: [self, ...children(MAX_FAMILY_SUBAGENTS - 1, "waiting")],
    refusal: null,
  },
  {
    when: "the most have been",
    family: [self, ...children(MAX_FAMILY_SUBAGENTS, "error")],
    refusal: "message_agent",
  },
];

test.each(spawns)("starting a subagent when $when", ({ family, maxDepth = 1, refusal }) => {
  const actual = spawnRefusal({ caller, family, maxDepth });
  if (refusal === null) expect(actual).toBeNull();
  else expect(actual).toContain(refusal);
});

const text = (value: string): MessagePart => ({ type: "text", text: value });
const call: MessagePart = { type: "tool-call", toolCallId: "c", toolName: "execute", arguments: {} };
const failure = { kind: "overloaded" as const, message: "Busy.", isRetryable: true };

const statusCases: {
  when: string;
  status: ChatStatus;
  last: [MessageRole, ...MessagePart[]] | null;
  queue?: number;
  isArchived?: boolean;
  refusal: object;
}[] = [
  {
    when: "it has answered",
    status: "waiting",
    last: ["assistant", text("Done")],
    refusal: { status: "finished", report: "Done" },
  },
  {
    when: "its answer has several parts",
    status: "waiting",
    last: ["assistant", { type: "reasoning", text: "Hm." }, text(" One, "), text("two. ")],
    refusal: { status: "finished", report: "One, two." },
  },
  {
    when: "it has answered nothing",
    status: "waiting",
    last: ["assistant"],
    refusal: { status: "finished", report: "" },
  },
  {
    when: "a message was not answered",
    status: "waiting",
    last: ["user", text("Go on")],
    refusal: { status: "interrupted" },
  },
  {
    when: "it was stopped within tools",
    status: "waiting",
    last: ["tool", text("")],
    refusal: { status: "interrupted" },
  },
  {
    when: "it was stopped at a call",
    status: "waiting",
    last: ["assistant", text("I will"), call],
    refusal: { status: "interrupted" },
  },
  {
    when: "something waits to be said",
    status: "waiting",
    last: ["assistant", text("Old")],
    queue: 1,
    refusal: { status: "interrupted" },
  },
  { when: "it has not begun", status: "pending", last: ["user", text("Go")], refusal: { status: "working" } },
  {
    when: "it works with an older answer behind it",
    status: "running",
    last: ["assistant", text("Old")],
    refusal: { status: "working" },
  },
  {
    when: "it is being stopped",
    status: "interrupting",
    last: ["assistant", text("Old")],
    refusal: { status: "working" },
  },
  {
    when: "it waits for a client",
    status: "requires_action",
    last: ["assistant", call],
    refusal: { status: "working" },
  },
  {
    when: "it failed",
    status: "error",
    last: ["user", text("Go")],
    refusal: { status: "failed", failure: "Busy.", report: "" },
  },
  {
    when: "it failed after its words",
    status: "error",
    last: ["assistant", text("So far")],
    refusal: { status: "failed", failure: "Busy.", report: "So far" },
  },
  {
    when: "it was archived",
    status: "waiting",
    last: ["assistant", text("Done")],
    isArchived: true,
    refusal: { status: "archived" },
  },
  { when: "nothing was ever said", status: "waiting", last: null, refusal: { status: "interrupted" } },
];

test.each(statusCases)(
  "the status of a subagent when $when",
  ({ status, last, queue = 0, isArchived = false, refusal }) => {
    const [role, ...parts] = last ?? [];
    const state = {
      status,
      isArchived,
      queuedIds: Array.from({ length: queue }, (_, index) => `q${index}`),
      lastError: status === "error" ? failure : null,
    };
    expect(agentStatusOf({ state, last: role === undefined ? null : { role, parts } })).toEqual(refusal);
  },
);
