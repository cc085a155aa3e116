/** Handling of malformed events: compatible servers may not send the shapes that the SDK's types promise. */
import { StreamFailure } from "../common/errors.js";
import type { EventReader } from "../common/model-call.js";

/**
 * Wraps a reader: an event of another shape becomes a failure of the server, worth a retry like broken JSON, instead of
 * an internal error. The original error is the `cause`.
 */
export function tolerateMalformed<Event>(reader: EventReader<Event>): EventReader<Event> {
  return {
    read: (event) => {
      try {
        return reader.read(event);
      } catch (error) {
        if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
        throw new StreamFailure("server_error", "the answer contained a malformed event", { cause: error });
      }
    },
    isFinished: () => reader.isFinished(),
    end: () => reader.end(),
  };
}
