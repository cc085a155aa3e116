/** Order among the otherwise concurrent calls of one step: some start only after earlier ones have ended. */
import type { RunTool } from "./ports.js";

/**
 * Wraps `run`, which is called once for each call of the step, in call order. `startsAfter` returns the names of the
 * tools whose earlier calls a tool waits for.
 */
export function inOrder(run: RunTool, startsAfter: (toolName: string) => readonly string[]): RunTool {
  const earlier: { toolName: string; done: Promise<unknown> }[] = [];
  return (call, signal, output) => {
    const before = startsAfter(call.toolName);
    const awaited = earlier.filter(({ toolName }) => before.includes(toolName)).map(({ done }) => done);
    const running =
      awaited.length === 0
        ? run(call, signal, output)
        : Promise.allSettled(awaited).then(() => run(call, signal, output));
    earlier.push({ toolName: call.toolName, done: running });
    return running;
  };
}
