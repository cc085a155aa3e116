/** Protocol of live output: a running command's output as lines of JSON, one for each chunk, until the command ends. */
import { z } from "zod";

/** Newest output of a running command that is retained for followers; older bytes are a gap. */
export const RETAINED_OUTPUT_BYTES = 64 * 1024;
/** A follower that receives nothing for three of these can assume that its agent is gone. */
export const STREAM_HEARTBEAT_MS = 10_000;

export const processStreamQuerySchema = z.object({
  /** Bytes of output that the follower has received already. */
  from: z.coerce.number().int().min(0).default(0),
});

/**
 * `output`: `text` is the bytes from `offset` up to `nextOffset`; where `offset` is beyond the previous `nextOffset`,
 * the bytes between are no longer retained. Characters are whole, and invalid bytes are U+FFFD. `alive`: heartbeat
 * without output. `end`: the command has ended after `offset` bytes; the last line.
 */
export const processStreamLineSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("output"),
    offset: z.number().int(),
    nextOffset: z.number().int(),
    text: z.string(),
  }),
  z.object({ type: z.literal("alive") }),
  z.object({ type: z.literal("end"), offset: z.number().int() }),
]);
export type ProcessStreamLine = z.infer<typeof processStreamLineSchema>;
