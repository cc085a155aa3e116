// Misbehaving tools: whatever one does, its call is answered, the turn goes on, and the stored result equals the one that
// was streamed and the one that the model reads.
import { afterEach, beforeEach, expect, test } from "vitest";
import type { DemoRequest } from "../../../src/demo-model/request.js";
import type { LiveDelta } from "../../../src/domain/chats/chat-events.js";
import type { JsonValue } from "../../../src/domain/common/json.js";
import type { ToolResultPart } from "../../../src/domain/chats/message-parts.js";
import { editFilesTool } from "../../../src/engine/tools/files/edit-files.js";
import type { Tool } from "../../../src/engine/tools/tool.js";
import type { Bus } from "../../../src/events/bus/bus.js";
import { connectedTo, isAtRest, type Replica, World } from "../world.js";

const LIMIT_BYTES = 64 * 1024;

let world: World;
let replica: Replica;
let requests: DemoRequest[] = [];
let streamed: LiveDelta[] = [];
beforeEach(async () => {
  world = await World.open();
  requests = [];
  streamed = [];
});
afterEach(() => world.close());

const tool = (name: string, run: Tool["run"], more: Partial<Tool> = {}): Tool => ({
  name,
  description: "Does what tools do.",
  inputSchema: { type: "object" },
  run,
  ...more,
});

/** A tool's code may return anything, whatever its type says. */
const returns = (result: unknown, isError = false) =>
  tool("odd", () => Promise.resolve({ result: result as JsonValue, isError }));

async function startTurn(tools: Tool[], calls: { name: string; arguments?: object }[]): Promise<string> {
  const publishLive: Bus["publishLive"] = (batch) => {
    streamed.push(...batch.deltas);
    world.bus.publishLive(batch);
  };
  replica = world.replica({ tools, bus: { ...connectedTo(world.bus), publishLive } });
  await replica.worker.start();
  const toolCalls = calls.map((call, index) => ({ id: `call_${index}`, arguments: {}, ...call }));
  world.answer = (request) => {
    requests.push(request);
    return requests.length === 1 ? { toolCalls: toolCalls as never } : { text: "Seen." };
  };
  return world.createChat(replica, "go", { workspaceId: world.workspaceId });
}

/** The results of the turn's only step, after the turn has ended well; shown, stored and sent are compared. */
async function resultsOf(chatId: string): Promise<ToolResultPart[]> {
  expect(await world.until(chatId, isAtRest)).toMatchObject({ status: "waiting", lastError: null });
  const history = await world.history(chatId);
  expect(history.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
  const results = history[2]?.parts.filter((part) => part.type === "tool-result") ?? [];
  const shown = streamed.filter(({ role }) => role === "tool").sort((a, b) => a.partIndex - b.partIndex);
  expect(shown.map(({ delta }) => delta)).toEqual(results);
  const read = requests[1]?.turns.flatMap((turn) => (turn.role === "results" ? turn.results : []));
  expect(read?.map(({ id }) => id)).toEqual(results.map(({ toolCallId }) => toolCallId));
  expect(read?.map(({ text }) => text)).toEqual(
    results.map(({ result }) => (typeof result === "string" ? result : JSON.stringify(result))),
  );
  return results;
}

async function run(tools: Tool[], calls: { name: string; arguments?: object }[]): Promise<ToolResultPart[]> {
  return resultsOf(await startTurn(tools, calls));
}

const circular: Record<string, unknown> = { name: "circle" };
circular.self = circular;

test.each<[string, unknown, JsonValue]>([
  ["nothing", undefined, null],
  ["a circle", circular, { name: "circle", self: "[circular]" }],
  ["big integers", { n: 2n ** 70n }, { n: "1180591620717411303424" }],
  ["null bytes", "a\u0000b\uE000", "a\u0000b\uE000"],
  ["half a character", { "k\uDC00": "a\uD800" }, { "k\uFFFD": "a\uFFFD" }],
])("a tool that returns %s is answered, and the turn goes on", async (_case, result, stored) => {
  const [part] = await run([returns(result)], [{ name: "odd" }]);
  expect(part).toMatchObject({ result: stored, isError: false });
});

test.each<[string, Tool, string]>([
  [
    "throws at once",
    tool("odd", () => {
      throw new Error("at once");
    }),
    "The tool failed: at once",
  ],
  [
    "throws no error",
    tool("odd", () => Promise.reject(Object.create(null) as Error)),
    "The tool failed: an object without a message",
  ],
  ["returns no outcome", tool("odd", () => Promise.resolve(undefined as never)), "The tool failed: Cannot"],
  [
    "returns what cannot be read",
    returns({
      get bad() {
        throw new Error("no reading");
      },
    }),
    "The tool failed: no reading",
  ],
  [
    "cannot prepare its arguments",
    tool("odd", () => Promise.reject(new Error("never")), {
      prepareArguments: () => {
        throw new Error("unprepared");
      },
    }),
    "The tool failed: unprepared",
  ],
])("a tool that %s is answered with an error, and the turn goes on", async (_case, odd, error) => {
  const [part] = await run([odd], [{ name: "odd" }]);
  expect(part).toMatchObject({ result: { error: expect.stringContaining(error) as string }, isError: true });
});

test("ten megabytes are cut to 64 KiB, alike in the store, the stream and the prompt", async () => {
  const long = `\u0000\uE000${"x".repeat(10_000_000)}\u{1F600}`;
  const chatId = await startTurn([returns({ output: long, code: 1 })], [{ name: "odd" }]);
  const [part] = await resultsOf(chatId);
  const result = part?.result as { output: string };
  expect(result).toEqual({
    output: expect.stringMatching(
      /^\u0000\uE000x+\n\n... \[\d+ bytes left out\] ...\n\nx+\u{1F600}$/u,
    ) as string,
    code: 1,
  });
  const sizeBytes = Buffer.byteLength(JSON.stringify(result));
  expect([sizeBytes <= LIMIT_BYTES, sizeBytes > LIMIT_BYTES - 100]).toEqual([true, true]);
});

test("an endless error message is cut too", async () => {
  const failing = tool("odd", () => Promise.reject(new Error("e".repeat(5_000_000))));
  const [part] = await run([failing], [{ name: "odd" }]);
  expect(Buffer.byteLength(JSON.stringify(part?.result))).toBeLessThanOrEqual(LIMIT_BYTES);
});

test("a tool that ignores its signal is abandoned on its timeout; concurrent calls keep their results", async () => {
  let hangs: (signal: AbortSignal) => void = () => undefined;
  const hanging = new Promise<AbortSignal>((resolve) => (hangs = resolve));
  const stuck = tool("stuck", (_args, { signal }) => new Promise(() => hangs(signal)), { timeoutMs: 60_000 });
  const quick = tool("quick", () => Promise.resolve({ result: "done", isError: false }));
  const chatId = await startTurn([stuck, quick], [{ name: "stuck" }, { name: "quick" }]);
  const signal = await hanging;
  replica.clock.advance(60_000);
  expect((await resultsOf(chatId)).map(({ result, isError }) => ({ result, isError }))).toEqual([
    {
      result: {
        error: "The tool was stopped: it did not end within 1m. What it has done so far is not known.",
      },
      isError: true,
    },
    { result: "done", isError: false },
  ]);
  expect(signal.reason).toMatchObject({ name: "ToolTimedOut" });
});

test("a model with invalid arguments reads what is wrong, and unambiguous slips are repaired", async () => {
  const input: unknown[] = [];
  const strict = tool(
    "strict",
    (args) => {
      input.push(args);
      return Promise.resolve({ result: "ran", isError: false });
    },
    {
      inputSchema: {
        type: "object",
        properties: { path: { type: "string" }, limit: { type: "integer" } },
        required: ["path"],
        additionalProperties: false,
      },
    },
  );
  const results = await run(
    [strict],
    [
      { name: "strict", arguments: { path: 7, foo: 1 } },
      { name: "strict", arguments: { path: "a", limit: "10" } },
      { name: "Strict" },
    ],
  );
  expect(results.map(({ result }) => result)).toEqual([
    { error: "Invalid arguments. unknown property `foo`; path: must be string, not number." },
    "ran",
    { error: 'There is no tool named "Strict". Did you mean strict? The tools are: strict.' },
  ]);
  expect(input).toEqual([{ path: "a", limit: 10 }]);
});

test("edits in the shapes that models fall back to reach edit_files, which finds no workspace here", async () => {
  const edit = { path: "a.txt", old_text: "x", new_text: "y", replace_all: null };
  const results = await run(
    [editFilesTool],
    [
      { name: "edit_files", arguments: { edits: JSON.stringify([edit]) } },
      { name: "edit_files", arguments: { files: [{ path: "a.txt", edits: [edit] }] } },
      { name: "edit_files", arguments: { edits: [{ path: "a.txt", old_str: "x" }] } },
    ],
  );
  expect(results.map(({ result }) => result)).toEqual([
    { error: "No agent here." },
    { error: "No agent here." },
    {
      error:
        "Invalid arguments. edits[0].old_text: is required (string); edits[0].new_text: is required (string); " +
        "unknown property `edits[0].old_str`. Here `old_str` is old_text. " +
        "The arguments are edits: [{path, old_text, new_text, replace_all?}]. No edit was applied.",
    },
  ]);
});

test("forty concurrent calls share one signal without a leak warning", async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on("warning", onWarning);
  let begun = 0;
  let release: () => void = () => undefined;
  const allBegun = new Promise<void>((resolve) => (release = resolve));
  const wait = tool("wait", async () => {
    if ((begun += 1) === 40) release();
    await allBegun;
    return { result: "done", isError: false };
  });
  const calls = Array.from({ length: 40 }, () => ({ name: "wait" }));
  expect((await run([wait], calls)).map(({ result }) => result)).toEqual(calls.map(() => "done"));
  process.off("warning", onWarning);
  expect(warnings.filter(({ name }) => name === "MaxListenersExceededWarning")).toEqual([]);
});

test("an outcome without an error flag counts as a success", async () => {
  const [part] = await run([tool("odd", () => Promise.resolve({ result: 1 } as never))], [{ name: "odd" }]);
  expect(part).toMatchObject({ result: 1, isError: false });
});
