/** Which pieces may follow which: a log has no gaps but where it dropped the output of tools. Pure. */
import type { LivePiece } from "../../domain/chats/chat-events.js";
import type { LoggedPieces } from "../bus/bus.js";

/** Whether nothing is missing before `piece` but output of tools that is no longer kept. */
export function follows(piece: LivePiece, last: number, logged: LoggedPieces | null): boolean {
  return piece.sequence <= Math.max(last, logged?.droppedUpTo ?? 0) + 1;
}

/** Whether `missing` leads a reader that has had `seen` pieces up to the piece `reached`. */
export function reaches(
  missing: LivePiece[],
  { seen, reached, logged }: { seen: number; reached: number; logged: LoggedPieces | null },
): boolean {
  let last = seen;
  for (const piece of missing) {
    if (!follows(piece, last, logged)) return false;
    last = piece.sequence;
  }
  return last === reached;
}
