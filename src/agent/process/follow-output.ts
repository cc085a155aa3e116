/** One follower of a command's output: from its place, as fast as it takes what it is given, until the command ends. */
import type { Clock } from "../../lib/clock.js";
import { sleep } from "../../lib/clock.js";
import { STREAM_HEARTBEAT_MS, type ProcessStreamLine } from "../protocol/process-stream.js";
import type { OutputFeed } from "./output-feed.js";

/** Between two pieces, so that a command that prints without end costs a follower at most 640 KiB a second. */
const PACE_MS = 100;

export type FollowOptions = {
  /** Bytes that the follower has had. */
  from: number;
  clock: Clock;
  /** Aborted when the follower has gone. */
  signal: AbortSignal;
};

/** Ends after the line that says `end`, or when the signal is aborted. Holds nothing while its reader is busy. */
export async function* followOutput(
  feed: OutputFeed,
  { from, clock, signal }: FollowOptions,
): AsyncGenerator<ProcessStreamLine> {
  const leave = feed.follow();
  try {
    let place = from;
    while (!signal.aborted) {
      // In this order: an ended feed has all that it will ever have.
      const { isEnded, writtenBytes } = feed;
      const piece = feed.read(place);
      if (piece !== null) {
        place = piece.nextOffset;
        yield { type: "output", ...piece };
        await sleep(clock, PACE_MS, signal);
      } else if (isEnded) {
        yield { type: "end", offset: writtenBytes };
        return;
      } else {
        await feed.waitBeyond(writtenBytes, { clock, timeoutMs: STREAM_HEARTBEAT_MS, signal });
        const isSilent = feed.writtenBytes === writtenBytes && !feed.isEnded;
        if (isSilent && !signal.aborted) yield { type: "alive" };
      }
    }
  } finally {
    leave();
  }
}
