/** Order among the calls of one step, which run side by side otherwise: some begin when earlier ones have ended. */
import type { RunTool } from "./ports.js";

/**
 * Wraps `run`, which is called once for each call of the step, in call order. `startsAfter` names the tools whose
 * earlier calls a tool waits for.
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
