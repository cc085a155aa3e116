/** What a running command says, as it says it: one line of JSON for each piece, until the command ends. */
import { z } from "zod";

/** Of a running command's output the newest 64 KiB are kept for followers; older bytes are a gap. */
export const RETAINED_OUTPUT_BYTES = 64 * 1024;
/** A follower that hears nothing for three of these knows that its agent is gone. */
export const STREAM_HEARTBEAT_MS = 10_000;

export const processStreamQuerySchema = z.object({
  /** Bytes of output that the follower has had already. */
  from: z.coerce.number().int().min(0).default(0),
});

/**
 * `output`: `text` is the bytes from `offset` up to `nextOffset`; where `offset` is beyond the `nextOffset` before it,
 * the bytes between are no longer kept. Characters are whole, and bytes that are none are U+FFFD. `alive`: nothing to
 * say for a while. `end`: the command has ended after `offset` bytes, and this is the last line.
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
