/** Runs the tool calls of one step concurrently; results are published as they arrive and returned in call order. */
import { setMaxListeners } from "node:events";
import type { ToolCallPart, ToolResultPart } from "../../domain/chats/message-parts.js";
import type { StoredToolOutcome } from "../../domain/chats/tool-outcome.js";
import { errorText } from "../../lib/text/error-text.js";
import { LiveOutput } from "./live-output.js";
import { DeltaBatcher } from "./delta-batcher.js";
import type { RunTool, ShowOutput, TurnPorts } from "./ports.js";

/** How long a tool may take to react to a stop; after that its call counts as unfinished. */
const STOP_GRACE_MS = 2_000;

/** Other listeners to a turn's signal: the grace period below, a model call, a retry. More than there are. */
const OTHER_LISTENERS = 10;

/** Returns finished calls only: after a stop some may be missing. Durations count from each call's `startedAt`. */
export async function executeTools(
  calls: ToolCallPart[],
  run: RunTool,
  signal: AbortSignal,
  ports: TurnPorts,
): Promise<ToolResultPart[]> {
  if (signal.aborted) return [];
  const batcher = new DeltaBatcher("tool", ports);
  // Each call listens to the one signal; without this Node warns of a leak from the eleventh on.
  setMaxListeners(calls.length + OTHER_LISTENERS, signal);
  const results = new Map<number, ToolResultPart>();
  let isOver = false;
  const outputs = calls.map(({ toolCallId }, partIndex) => {
    const show = (append: string) =>
      batcher.write({ partIndex, delta: { type: "tool-output-delta", toolCallId, append } });
    return new LiveOutput(show, ports.clock);
  });
  const running = calls.map(async (call, index) => {
    const output = outputs[index];
    const show: ShowOutput = (text, missedBytes) => output?.write(text, missedBytes);
    const outcome = await runSafely(run, call, { signal, show });
    output?.close();
    // An error caused by the stop itself is no result; the call is answered as interrupted.
    if (isOver || (signal.aborted && outcome.isError)) return;
    const result = toResult(call, outcome, ports.clock.now());
    results.set(index, result);
    batcher.write({ partIndex: index, delta: result });
  });
  const grace = stopGrace(signal, ports);
  await Promise.race([Promise.all(running), grace.over]);
  grace.cancel();
  isOver = true;
  for (const output of outputs) output.close();
  batcher.flush();
  return [...results].sort(([a], [b]) => a - b).map(([, result]) => result);
}

async function runSafely(
  run: RunTool,
  call: ToolCallPart,
  { signal, show }: { signal: AbortSignal; show: ShowOutput },
): Promise<StoredToolOutcome> {
  try {
    return await run(call, signal, show);
  } catch (error) {
    return { result: { error: `The tool failed: ${errorText(error)}` }, isError: true };
  }
}

function toResult(call: ToolCallPart, outcome: StoredToolOutcome, now: number): ToolResultPart {
  const { toolCallId, toolName, startedAt } = call;
  const times = startedAt === undefined ? {} : { startedAt, durationMs: Math.max(0, now - startedAt) };
  return { type: "tool-result", toolCallId, toolName, ...outcome, ...times };
}

/** `over` resolves `STOP_GRACE_MS` after the signal is aborted. */
function stopGrace(signal: AbortSignal, { clock }: TurnPorts): { over: Promise<void>; cancel(): void } {
  const done = new AbortController();
  const over = new Promise<void>((resolve) => {
    const arm = () => {
      const cancelTimer = clock.after(STOP_GRACE_MS, resolve);
      done.signal.addEventListener("abort", cancelTimer, { once: true });
    };
    if (signal.aborted) arm();
    else signal.addEventListener("abort", arm, { once: true, signal: done.signal });
  });
  return { over, cancel: () => done.abort() };
}
