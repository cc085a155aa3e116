/**
 * Follows a command's output for users while a tool waits for its end. Only a preview: lost output is counted, and a
 * failure here neither fails the tool nor delays it.
 */
import { sleep, systemClock, type Clock } from "../../../lib/clock.js";
import type { AgentConnection } from "../../../workspaces/agent-client/agent-connection.js";
import type { ToolContext } from "../tool.js";

/** Most commands end sooner; then the result shows everything, and no stream needs to be opened. */
const FOLLOW_AFTER_MS = 200;
/** Delay before a broken stream is reopened; doubled each time that it breaks without output. */
const FIRST_RETRY_MS = 250;
const MAX_RETRY_MS = 10_000;

/** Settles as `wait` does; the process's output is shown until then. */
export async function whileFollowing<Result>(
  context: ToolContext,
  agent: AgentConnection,
  id: string,
  wait: () => Promise<Result>,
): Promise<Result> {
  const stop = new AbortController();
  const following = follow(context, agent, { id, signal: stop.signal, clock: systemClock });
  try {
    return await wait();
  } finally {
    stop.abort();
    await following;
  }
}

type Following = { id: string; signal: AbortSignal; clock: Clock };

/** Resolves at once when the signal is aborted. Never rejects. */
async function follow(context: ToolContext, first: AgentConnection, following: Following): Promise<void> {
  const { id, signal, clock } = following;
  const onOutput = (text: string, missedBytes: number) => context.output(text, missedBytes);
  await sleep(clock, FOLLOW_AFTER_MS, signal);
  let agent = first;
  let from = 0;
  let delayMs = FIRST_RETRY_MS;
  while (!signal.aborted) {
    const { isOver, nextOffset } = await agent.followOutput({ id, from, signal, onOutput });
    if (isOver) return;
    delayMs = nextOffset > from ? FIRST_RETRY_MS : Math.min(delayMs * 2, MAX_RETRY_MS);
    from = nextOffset;
    await sleep(clock, delayMs, signal);
    agent = await reconnect(context, agent, signal);
  }
}

/** The current connection to the agent. Bounded by `signal`: connecting takes long when the agent is unreachable. */
async function reconnect(
  context: ToolContext,
  known: AgentConnection,
  signal: AbortSignal,
): Promise<AgentConnection> {
  if (signal.aborted) return known;
  const aborted = new Promise<AgentConnection>((resolve) =>
    signal.addEventListener("abort", () => resolve(known), { once: true }),
  );
  return Promise.race([context.workspace().catch(() => known), aborted]);
}
