/** Gap detection in logged deltas: the only legitimate gaps are where the log dropped tool output. Pure. */
import type { LiveDelta } from "../../domain/chats/chat-events.js";
import type { LoggedDeltas } from "../bus/bus.js";

/** Whether nothing but dropped tool output is missing between `last` and `delta`. */
export function follows(delta: LiveDelta, last: number, logged: LoggedDeltas | null): boolean {
  return delta.sequence <= Math.max(last, logged?.droppedUpTo ?? 0) + 1;
}

/** Whether `missing` takes a reader from sequence `seen` to `reached` without a gap. */
export function reaches(
  missing: LiveDelta[],
  { seen, reached, logged }: { seen: number; reached: number; logged: LoggedDeltas | null },
): boolean {
  let last = seen;
  for (const delta of missing) {
    if (!follows(delta, last, logged)) return false;
    last = delta.sequence;
  }
  return last === reached;
}
