/** Live output for one follower: from its offset, at its own pace, until the command ends. */
import type { Clock } from "../../lib/clock.js";
import { sleep } from "../../lib/clock.js";
import { STREAM_HEARTBEAT_MS, type ProcessStreamLine } from "../protocol/process-stream.js";
import type { OutputFeed } from "./output-feed.js";

/** Between two chunks: limits the output of an endless command to 640 KiB a second for each follower. */
const CHUNK_INTERVAL_MS = 100;

export type FollowOptions = {
  /** Bytes that the follower has received already. */
  from: number;
  clock: Clock;
  /** Aborted when the follower disconnects. */
  signal: AbortSignal;
};

/** Ends after the `end` line, or when the signal is aborted. Buffers nothing while its consumer is busy. */
export async function* followOutput(
  feed: OutputFeed,
  { from, clock, signal }: FollowOptions,
): AsyncGenerator<ProcessStreamLine> {
  const unfollow = feed.follow();
  try {
    let offset = from;
    while (!signal.aborted) {
      // Before `read`: a feed that has ended by now gets no more output.
      const { isEnded, writtenBytes } = feed;
      const chunk = feed.read(offset);
      if (chunk !== null) {
        offset = chunk.nextOffset;
        yield { type: "output", ...chunk };
        await sleep(clock, CHUNK_INTERVAL_MS, signal);
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
    unfollow();
  }
}
