import { expect, test } from "vitest";
import type { LiveDelta } from "../../domain/chats/chat-events.js";
import type { ToolCallPart } from "../../domain/chats/message-parts.js";
import { ManualClock } from "../../../test/agent/manual-clock.js";
import { executeTools } from "./execute-tools.js";
import type { RunTool } from "./ports.js";

function start() {
  const clock = new ManualClock();
  const deltas: LiveDelta[] = [];
  const stop = new AbortController();
  const publish = (more: LiveDelta[]) => void deltas.push(...more);
  const ports = { clock, publish, deltaIntervalMs: () => 15 };
  const execute = (run: RunTool, ...ids: string[]) => executeTools(ids.map(call), run, stop.signal, ports);
  return { clock, deltas, stop, execute };
}

const call = (toolCallId: string): ToolCallPart => ({
  type: "tool-call",
  toolCallId,
  toolName: "t",
  arguments: {},
});
const result = (toolCallId: string, outcome: unknown, isError = false) => ({
  type: "tool-result",
  toolCallId,
  toolName: "t",
  result: outcome,
  isError,
});

/** Tools whose end the test controls. */
function gates() {
  const open = new Map<string, (outcome: string) => void>();
  const run: RunTool = ({ toolCallId }) =>
    new Promise((resolve) => open.set(toolCallId, (outcome) => resolve({ result: outcome, isError: false })));
  return {
    run,
    end: (id: string, outcome: string) => open.get(id)?.(outcome),
    begun: () => [...open.keys()],
  };
}

test("all calls start at once; results are published as they arrive and returned in call order", async () => {
  const { clock, deltas, execute } = start();
  const { run, end, begun } = gates();
  const done = execute(run, "a", "b", "c");
  expect(begun()).toEqual(["a", "b", "c"]);
  for (const id of ["c", "a", "b"]) end(id, `of ${id}`);
  expect(await done).toEqual([result("a", "of a"), result("b", "of b"), result("c", "of c")]);
  clock.advance(1_000);
  expect(deltas).toEqual([
    { sequence: 1, role: "tool", partIndex: 2, delta: result("c", "of c") },
    { sequence: 2, role: "tool", partIndex: 0, delta: result("a", "of a") },
    { sequence: 3, role: "tool", partIndex: 1, delta: result("b", "of b") },
  ]);
});

test("a result has the duration of its own call, whatever the others do", async () => {
  const { clock, deltas, stop } = start();
  const { run, end } = gates();
  const ports = {
    clock,
    publish: (more: LiveDelta[]) => void deltas.push(...more),
    deltaIntervalMs: () => 15,
  };
  const startedAt = clock.now() - 5;
  const calls = [{ ...call("a"), startedAt }, { ...call("b"), startedAt }, call("c")];
  const done = executeTools(calls, run, stop.signal, ports);
  clock.advance(20);
  end("b", "of b");
  end("c", "of c");
  await Promise.resolve();
  await Promise.resolve();
  clock.advance(100);
  end("a", "of a");
  expect(await done).toEqual([
    { ...result("a", "of a"), startedAt, durationMs: 125 },
    { ...result("b", "of b"), startedAt, durationMs: 25 },
    result("c", "of c"),
  ]);
});

test("live output is shown at its call until the result is there", async () => {
  const { clock, deltas, execute } = start();
  const says = new Map<string, (text: string, missedBytes?: number) => void>();
  const { run: gated, end } = gates();
  const run: RunTool = (toolCall, signal, output) => {
    says.set(toolCall.toolCallId, output);
    return gated(toolCall, signal, output);
  };
  const done = execute(run, "a", "b");
  says.get("b")?.("one ");
  clock.advance(200);
  says.get("a")?.("of a");
  says.get("b")?.("two", 7);
  clock.advance(15);
  says.get("b")?.("not shown any more");
  end("b", "all");
  await Promise.resolve();
  end("a", "all");
  await done;
  says.get("a")?.("too late");
  clock.advance(1_000);
  const delta = (toolCallId: string, append: string) => ({ type: "tool-output-delta", toolCallId, append });
  expect(deltas.map(({ partIndex, role, delta }) => [partIndex, role, delta])).toEqual([
    [1, "tool", delta("b", "one ")],
    [0, "tool", delta("a", "of a")],
    [1, "tool", delta("b", "\n... [7 bytes left out] ...\ntwo")],
    [1, "tool", result("b", "all")],
    [0, "tool", result("a", "all")],
  ]);
});

test("a tool that throws, rejects with no error, or throws before it waits is an error result of its own", async () => {
  const { execute } = start();
  const run: RunTool = ({ toolCallId }) => {
    if (toolCallId === "a") throw new Error("at once");
    if (toolCallId === "b") return Promise.reject(new Error("later"));
    // eslint-disable-next-line prefer-promise-reject-errors
    return toolCallId === "c" ? Promise.reject("a text") : Promise.resolve({ result: 1, isError: false });
  };
  expect(await execute(run, "a", "b", "c", "d")).toEqual([
    result("a", { error: "The tool failed: at once" }, true),
    result("b", { error: "The tool failed: later" }, true),
    result("c", { error: "The tool failed: a text" }, true),
    result("d", 1),
  ]);
});

test("a thrown value without a text is an error result too", async () => {
  const { execute } = start();
  expect(await execute(() => Promise.reject(Object.create(null) as Error), "a")).toEqual([
    result("a", { error: "The tool failed: an object without a message" }, true),
  ]);
});

test("a stop keeps finished results, and those that succeed within the grace period", async () => {
  const { stop, execute } = start();
  const { run: gated, end } = gates();
  const run: RunTool = (toolCall, signal) => {
    if (toolCall.toolCallId === "a") return Promise.resolve({ result: "early", isError: false });
    if (toolCall.toolCallId === "b") return gated(toolCall, signal, () => undefined);
    return new Promise((_resolve, reject) =>
      signal.addEventListener("abort", () => reject(signal.reason as Error)),
    );
  };
  const done = execute(run, "a", "b", "c");
  stop.abort({ kind: "interrupt" });
  end("b", "just in time");
  expect(await done).toEqual([result("a", "early"), result("b", "just in time")]);
});

test("a tool that ignores the stop is abandoned after two seconds, and its later output is ignored", async () => {
  const { clock, deltas, stop, execute } = start();
  const { run, end } = gates();
  const done = execute(run, "a", "b");
  end("a", "early");
  const grace = clock.nextTimer(2_000);
  stop.abort({ kind: "shutdown" });
  await grace;
  clock.advance(2_000);
  expect(await done).toEqual([result("a", "early")]);
  end("b", "too late");
  await Promise.resolve();
  clock.advance(10_000);
  expect(deltas.map(({ delta }) => delta)).toEqual([result("a", "early")]);
});

test("no call starts after a stop", async () => {
  const { stop, execute } = start();
  stop.abort({ kind: "interrupt" });
  const { run, begun } = gates();
  expect([await execute(run, "a", "b"), begun()]).toEqual([[], []]);
});

test("no calls give no results", async () => {
  const { execute } = start();
  expect(await execute(gates().run)).toEqual([]);
});
