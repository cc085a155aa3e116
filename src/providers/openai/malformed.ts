/** What servers stream in OpenAI's name need not have the shape that the SDK's types promise. */
import { StreamFailure } from "../common/errors.js";
import type { EventReader } from "../common/model-call.js";

/**
 * The same reader, for which an event of another shape is a failure of the server, worth a retry like broken JSON,
 * and no bug of ours. The reader's own errors stay reachable as the `cause`.
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
