// The columns of the table: events and their expected outcomes. An expectation is derived from the phase (its history,
// its partial output, the rest of its step), or is the reason why the event cannot occur there.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Sequel } from "../../../support/models/staged-model.js";
import type { ScriptStep } from "../../../../src/demo-model/answer.js";
import type { Cell, Outcome, Phase } from "./words.js";

type Expected = Omit<Outcome, "breaches">;
/** `notHere`: why the event cannot occur in the phase. */
export type Verdict = Expected | { notHere: string };

export type Event = {
  name: string;
  expect(phase: Phase): Verdict;
  /** A user's action before the event. */
  prepare?(cell: Cell): Promise<unknown>;
  /** A user's action, or a failure of the paused model. Absent for server events. */
  act?(cell: Cell): Promise<unknown>;
  /** Replaces the model's response at the paused call. */
  answer?: ScriptStep;
};

const REST = { status: "WAITING", isArchived: false, failure: null, queue: [] as string[] };
const DONE = "assistant: Done.";
const answered = (...texts: string[]) => texts.flatMap((text) => [`user: ${text}`, DONE]);

/** The turn continues as if nothing had happened, followed by the queued messages' turns. */
function runsOn({ before, rest, calls, restCalls, queue = [] }: Phase): Expected {
  return {
    ...REST,
    story: [...before, ...rest, ...answered(...queue)],
    calls: calls + restCalls + queue.length,
  };
}

/** Partial output is saved, then these messages are answered. A pending chat answers its own message first. */
function stopsFor(phase: Phase, texts: string[]): Expected {
  const { before, saved, rest, calls, restCalls, name } = phase;
  const isBegun = name !== "pending" || texts.length === 0;
  const stopped = isBegun ? [...before, ...saved] : [...before, ...rest];
  const [first, ...after] = answered(...texts);
  // The context is still full: it is compacted before the next message is answered.
  const isFolded = name === "automatic compaction" && first !== undefined;
  const added = isFolded ? [first, SUMMARY, ...after] : answered(...texts);
  return {
    ...REST,
    story: [...stopped, ...added],
    calls: calls + (isBegun ? 0 : restCalls) + texts.length + (isFolded ? 1 : 0),
  };
}

const interrupt: Event = {
  name: "interrupt",
  act: ({ api, chatId }) => api.change("interruptChat", { chatId }, "chat { id }").then(mustGoWell),
  expect: (phase) => stopsFor(phase, phase.queue ?? []),
};

const sendInterrupt: Event = {
  name: "send, INTERRUPT",
  act: ({ api, chatId }) => api.send(chatId, "next", { whenBusy: "INTERRUPT" }).then(mustGoWell),
  expect: (phase) => stopsFor(phase, ["next", ...(phase.queue ?? [])]),
};

const edit: Event = {
  name: "edit of the first",
  async act({ api, follower, chatId, cue }) {
    const messageId = follower.transcript.messages[0]?.id;
    const parts = [{ text: { text: `${cue} edited` } }];
    mustGoWell(await api.change("editChatMessage", { messageId, parts }, "chat { id }"));
    const shown = await api.chat(chatId);
    if (shown?.messages.nodes[0]?.id === messageId) throw new Error("The edited message is the old row.");
  },
  expect: ({ calls }) => ({ ...REST, story: answered("edited"), calls: calls + 1 }),
};

const promote: Event = {
  name: "promote the last queued",
  async prepare({ api, chatId, phase }) {
    if (!phase.queue) mustGoWell(await api.send(chatId, "next"));
  },
  async act({ api, chatId }) {
    const queuedMessageId = (await api.chat(chatId))?.queuedMessages.at(-1)?.id;
    mustGoWell(await api.change("promoteQueuedMessage", { queuedMessageId }, "chat { id }"));
  },
  expect: (phase) => stopsFor(phase, phase.queue?.toReversed() ?? ["next"]),
};

const archive: Event = {
  name: "archive",
  act: ({ api, chatId }) => api.change("archiveChat", { chatId }, "chat { id }").then(mustGoWell),
  expect: (phase) => ({ ...stopsFor(phase, []), isArchived: true, queue: phase.queue ?? [] }),
};

export const USER_EVENTS: Event[] = [interrupt, sendInterrupt, edit, promote, archive];

function mustGoWell({ userErrors }: { userErrors: unknown[] }): void {
  if (userErrors.length > 0) throw new Error(`It was refused: ${JSON.stringify(userErrors)}`);
}

// ── server events ────────────────────────────────────────────────────────────

const IS_UNCLAIMED = "no worker has claimed it";

const AT_THE_COMMIT = "nothing can be lost: the commit waits in the database";

const BEATS_TOO_OFTEN = "a server with a short lease notices an interrupt as soon";

function serverEvent(name: "shutdown" | "crash" | "lost lease"): Event {
  return {
    name,
    expect(phase) {
      if (phase.around) return { notHere: AT_THE_COMMIT };
      if (phase.isUnowned && name === "lost lease") return { notHere: IS_UNCLAIMED };
      if (!phase.afterServer) return runsOn(phase);
      const rest = phase.afterServer[name];
      return rest === null ? { notHere: BEATS_TOO_OFTEN } : runsOn({ ...phase, rest });
    },
  };
}

export const SHUTDOWN = serverEvent("shutdown");
export const CRASH = serverEvent("crash");
export const LOST_LEASE = serverEvent("lost lease");

// ── model events ─────────────────────────────────────────────────────────────

const NOT_ASKED = "no model is being asked";
const HAS_BEGUN = "the status is already 200";
const TOO_LONG: ScriptStep = {
  error: { status: 400, type: "invalid_request_error", message: "prompt is too long" },
};
const SUMMARY = "assistant: calls chat_summarized; chat_summarized ok";
const NO_SUMMARY = "assistant: calls chat_summarized; chat_summarized failed";

const goesOn = (sequel: Sequel) => async (cell: Cell) =>
  (await cell.staged.reached(cell.phase.calls))(sequel);

/** An error instead of the response, which must not have started. */
function refusal(name: string, answer: ScriptStep, expect: (phase: Phase) => Expected): Event {
  return {
    name,
    answer,
    act: goesOn("go-on"),
    expect(phase) {
      if (phase.asked === "no") return { notHere: NOT_ASKED };
      return phase.asked === "begun" ? { notHere: HAS_BEGUN } : expect(phase);
    },
  };
}

/** A failed attempt, which is retried. After an interrupt it is not, and the partial output is saved. */
function accident(name: string, sequel: Sequel): Event {
  const expect = (phase: Phase) =>
    phase.asked === "no"
      ? { notHere: NOT_ASKED }
      : runsOn({ ...phase, rest: phase.afterAccident ?? phase.rest });
  return { name, act: goesOn(sequel), expect };
}

export const VENDOR_EVENTS: Event[] = [
  refusal("529, then fine", { error: { status: 529 } }, runsOn),
  refusal("401", { error: { status: 401 } }, (phase) => {
    if (phase.name === "automatic compaction")
      return { ...REST, story: [...phase.before, NO_SUMMARY, DONE], calls: phase.calls + 1 };
    return { ...REST, status: "ERROR", failure: "AUTH", story: phase.before, calls: phase.calls };
  }),
  refusal("too long", TOO_LONG, (phase) => {
    if (phase.name === "before the first part") {
      const { before: story, calls } = phase;
      return { ...REST, status: "ERROR", failure: "CONTEXT_TOO_LARGE", story, calls };
    }
    const folded = phase.name === "between steps" ? { rest: [SUMMARY, ...phase.rest], restCalls: 2 } : {};
    return runsOn({ ...phase, ...folded });
  }),
  accident("error event", "overloaded"),
  accident("cut", "cut"),
  accident("silent end", "end"),
];

// ── tool events ──────────────────────────────────────────────────────────────

const NO_TOOL_RUNS = "no tool runs, and none is being asked for";
const MISSING_FILE: ScriptStep = {
  toolCalls: [{ id: "call_read", name: "read_file", arguments: { path: "not-there" } }],
};

/** Kills the process whose ID a command of this cell has written to the file. */
export async function killNoted(cell: Cell, file: string): Promise<void> {
  const noted = await readFile(join(cell.scene.environment.repository.folder, `${file}-${cell.cue}`), "utf8");
  process.kill(Number(noted.trim()), "SIGKILL");
}

const toolFails: Event = {
  name: "tool fails",
  answer: MISSING_FILE,
  act: (cell) => (cell.phase.runsProcess ? killNoted(cell, "process") : goesOn("go-on")(cell)),
  expect(phase) {
    const story = phase.runsProcess
      ? [...phase.before, "tool: execute ok one; execute failed: ended by SIGKILL", DONE]
      : [...phase.before, "assistant: calls read_file", "tool: read_file failed", DONE];
    const isAsked = phase.asked === "not begun" && phase.rest.length === 1 && phase.rest[0] === DONE;
    if (!phase.runsProcess && !isAsked) return { notHere: NO_TOOL_RUNS };
    return { ...REST, story, calls: phase.calls + 1 };
  },
};

/** The tool's agent is killed. Needs a server of its own. */
export const AGENT_DIES: Event = {
  name: "tool's agent dies",
  act: (cell) => killNoted(cell, "agent"),
  expect(phase) {
    if (!phase.runsProcess) return { notHere: NO_TOOL_RUNS };
    const story = [...phase.before, "tool: execute ok one; execute lost", DONE];
    return { ...REST, story, calls: phase.calls + 1 };
  },
};

export const TOOL_EVENTS: Event[] = [toolFails];
