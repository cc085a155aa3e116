// The rows of the table: how a new chat reaches exactly this phase, and which observation proves it.
// The model answers every call after the scripted ones with "Done.".
import { actBeforeCommit } from "./before-commit.js";
import type { Cell, Phase } from "./words.js";

const BEGIN = "user: begin";
const DONE = "assistant: Done.";
const SUMMARY = "assistant: calls chat_summarized; chat_summarized ok";
/** Only streamed up to the pause. The whole text would come from a worker that has lost its claim. */
const WHOLE = "One two three.";
/** Almost fills the context of 200,000 tokens. */
const FULL = { inputTokens: 190_000 };
const ECHO = { id: "call_echo", name: "execute", arguments: { command: "echo one" } };

const startsRunning = ({ follower }: Cell) => follower.until(({ status }) => status === "RUNNING");
const hears = (cell: Cell, name: string) => cell.follower.until(({ log }) => log.includes(name));
const untilPaused = async (cell: Cell, call: number) => {
  await cell.staged.reached(call);
  await startsRunning(cell);
};
/** Blocks on its first run, after writing its process IDs to files; prints "again" on a repetition. */
const blockedCommand = (cue: string, fifo: string) =>
  [
    `if [ -e process-${cue} ]; then echo again`,
    `else echo $$ > process-${cue}; echo $PPID > agent-${cue}; exec sleep 1000 > ${fifo}; fi`,
  ].join("; ");
/** Resumes the model only when the follower has caught up: the next event is not part of snapshots. */
const goesOnWhenFollowed = async (cell: Cell) => {
  const goOn = await cell.staged.reached(1);
  await cell.follower.until(({ status, isCaughtUp }) => isCaughtUp && status === "RUNNING");
  goOn("go-on");
};
const says = (cell: Cell, text: string) =>
  cell.follower.until(({ preview }) => preview?.parts.get(0)?.["text"] === text);

const midText: Phase = {
  name: "mid-text",
  lines: () => [{ text: WHOLE, pauseAt: { delta: "text_delta", count: 2 } }],
  reach: (cell) => says(cell, "One two "),
  asked: "begun",
  calls: 1,
  before: [BEGIN],
  saved: ["assistant: One two"],
  rest: [DONE],
  restCalls: 1,
};

export const PHASES: Phase[] = [
  {
    name: "pending",
    lines: () => [],
    reach: ({ follower }) => follower.until(({ status }) => status === "PENDING"),
    isUnowned: true,
    isApart: true,
    asked: "no",
    calls: 0,
    before: [BEGIN],
    saved: [],
    rest: [DONE],
    restCalls: 1,
  },
  {
    name: "before the first part",
    lines: () => [{ text: WHOLE, pauseAt: "before-headers" }],
    reach: (cell) => untilPaused(cell, 1),
    asked: "not begun",
    calls: 1,
    before: [BEGIN],
    saved: [],
    rest: [DONE],
    restCalls: 1,
  },
  {
    name: "mid-reasoning",
    lines: () => [
      { reasoning: "I think it over.", text: WHOLE, pauseAt: { delta: "thinking_delta", count: 2 } },
    ],
    reach: (cell) => says(cell, "I think "),
    asked: "begun",
    calls: 1,
    before: [BEGIN],
    saved: ["assistant: (I think)"],
    rest: [DONE],
    restCalls: 1,
  },
  midText,
  {
    ...midText,
    name: "mid-text, two queued",
    async reach(cell) {
      await says(cell, "One two ");
      await cell.api.send(cell.chatId, "first");
      await cell.api.send(cell.chatId, "second");
      await hears(cell, "queue 2");
    },
    queue: ["first", "second"],
  },
  {
    name: "mid-tool-arguments",
    lines: (cue) => [
      {
        text: "I will write.",
        toolCalls: [{ name: "write_file", arguments: { path: `never-${cue}`, content: "a".repeat(64) } }],
        pauseAt: { delta: "input_json_delta", count: 2 },
      },
    ],
    reach: (cell) => hears(cell, "part ASSISTANT ToolInputDelta"),
    asked: "begun",
    calls: 1,
    before: [BEGIN],
    saved: ["assistant: I will write."],
    rest: [DONE],
    restCalls: 1,
  },
  {
    ...midText,
    name: "between the answer and its commit",
    around: actBeforeCommit,
    asked: "no",
    saved: [`assistant: ${WHOLE}`],
  },
  {
    name: "during tools",
    lines: (cue, fifo) => [
      {
        toolCalls: [
          ECHO,
          {
            id: "call_blocked",
            name: "execute",
            arguments: {
              command: blockedCommand(cue, fifo),
              timeout: "10m",
            },
          },
        ],
      },
    ],
    runsProcess: true,
    async reach(cell) {
      await Promise.all([hears(cell, "part TOOL ToolResultPart"), cell.fifo?.opened]);
    },
    asked: "no",
    calls: 1,
    before: [BEGIN, "assistant: calls execute; calls execute"],
    saved: ["tool: execute ok one", "tool: execute interrupted"],
    rest: ["tool: execute ok one; execute ok again", DONE],
    restCalls: 1,
  },
  {
    name: "between steps",
    lines: () => [{ toolCalls: [ECHO] }, { text: WHOLE, pauseAt: "before-headers" }],
    reach: (cell) => untilPaused(cell, 2),
    asked: "not begun",
    calls: 2,
    before: [BEGIN, "assistant: calls execute", "tool: execute ok one"],
    saved: [],
    rest: [DONE],
    restCalls: 1,
  },
  {
    name: "in a retry wait",
    lines: () => [{ error: { status: 529, headers: { "retry-after": "250" } }, pauseAt: "before-headers" }],
    async reach(cell) {
      await goesOnWhenFollowed(cell);
      await hears(cell, "retry 1");
    },
    asked: "no",
    calls: 1,
    before: [BEGIN],
    saved: [],
    rest: [DONE],
    restCalls: 1,
  },
  {
    name: "automatic compaction",
    lines: () => [
      { toolCalls: [ECHO], usage: FULL },
      { text: WHOLE, pauseAt: "before-headers" },
    ],
    async reach(cell) {
      await untilPaused(cell, 2);
      await cell.follower.until(({ preview }) => preview?.parts.get(0)?.["toolName"] === "chat_summarized");
    },
    asked: "not begun",
    calls: 2,
    before: [BEGIN, "assistant: calls execute", "tool: execute ok one"],
    saved: [],
    rest: [SUMMARY, DONE],
    restCalls: 2,
  },
  {
    name: "manual compaction",
    lines: () => [{ text: "Hi." }, { text: WHOLE, pauseAt: "before-headers" }],
    async reach(cell) {
      await cell.follower.untilStatus("WAITING");
      await cell.api.change("compactChat", { chatId: cell.chatId }, "chat { id }");
      await untilPaused(cell, 2);
      await cell.follower.until(({ preview }) => preview?.parts.get(0)?.["toolName"] === "chat_summarized");
    },
    asked: "not begun",
    calls: 2,
    before: [BEGIN, "assistant: Hi."],
    saved: [],
    rest: [SUMMARY],
    restCalls: 1,
  },
  {
    ...midText,
    name: "interrupting",
    async reach(cell) {
      await says(cell, "One two ");
      const apiServer = await cell.scene.apiServer();
      await apiServer.change("interruptChat", { chatId: cell.chatId }, "chat { id }");
      const shown = await apiServer.chat(cell.chatId);
      if (shown?.status !== "INTERRUPTING") throw new Error(`The chat is ${shown?.status}.`);
    },
    isApart: true,
    saved: [`assistant: ${WHOLE}`],
    afterAccident: ["assistant: One two"],
    afterServer: { shutdown: ["assistant: One two"], crash: null, "lost lease": [] },
    rest: [],
    restCalls: 0,
  },
  {
    name: "requires action",
    lines: () => [
      { toolCalls: [{ id: "call_where", name: "where_am_i", arguments: {} }], pauseAt: "before-headers" },
    ],
    more: {
      clientTools: [
        { name: "where_am_i", description: "Tells where the client is.", inputSchema: { type: "object" } },
      ],
    },
    async reach(cell) {
      await goesOnWhenFollowed(cell);
      await hears(cell, "action-required where_am_i");
    },
    isUnowned: true,
    asked: "no",
    calls: 1,
    before: [BEGIN, "assistant: calls where_am_i"],
    saved: ["tool: where_am_i cancelled"],
    rest: ['tool: where_am_i "here"', DONE],
    restCalls: 1,
  },
];

export function phase(name: string): Phase {
  const found = PHASES.find((candidate) => candidate.name === name);
  if (!found) throw new Error(`There is no phase called ${name}.`);
  return found;
}
