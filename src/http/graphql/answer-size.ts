/** Whether an operation's answer may leave: found out before it is written as JSON, which is where it would grow. */
import type { ExecutionResult } from "graphql";
import { ByteHold } from "../../lib/streams/byte-accounts.js";
import { jsonSize } from "../../lib/text/json-size.js";
import { answerTooLarge, tooMuchUnderWay } from "../../resolvers/common/answer-budget.js";
import { SMALL_ANSWER_BYTES } from "../subscriptions/outlet.js";

/** Roughly one error with its path. */
const ERROR_BYTES = 512;

/** Bytes of an answer as JSON; a number above `maxBytes` when there are more. Small ones are only estimated. */
export function answerBytes({ data, errors }: ExecutionResult, maxBytes: number): number {
  return jsonSize(data, maxBytes, SMALL_ANSWER_BYTES) + (errors?.length ?? 0) * ERROR_BYTES;
}

/**
 * The answer to a query or mutation, or the error that takes its place. `hold` holds its bytes from then on. What a
 * mutation has done is told even if the user has no room for it.
 */
export function boundAnswer(
  result: ExecutionResult,
  { maxBytes, hold, isMutation }: { maxBytes: number; hold: ByteHold; isMutation: boolean },
): ExecutionResult {
  const bytes = answerBytes(result, maxBytes);
  const isTooLarge = bytes > maxBytes;
  const hasRoom = !isTooLarge && (bytes <= SMALL_ANSWER_BYTES || isMutation || hold.resize(bytes));
  if (!hasRoom) {
    hold.force(0);
    return { data: null, errors: [isTooLarge ? answerTooLarge(maxBytes) : tooMuchUnderWay()] };
  }
  hold.force(bytes <= SMALL_ANSWER_BYTES ? 0 : bytes);
  return result;
}

/** In an operation's context: the room that its answer takes. A symbol, so that no resolver meets it. */
const ROOM = Symbol("room for the answer");

/** The same context with the room in it; Apollo copies it shallowly. */
export function withRoom<Context extends object>(context: Context, room: ByteHold): Context {
  return { ...context, [ROOM]: room };
}

/** What `withRoom` has put there. */
export function roomIn(context: object): ByteHold | null {
  return ROOM in context && context[ROOM] instanceof ByteHold ? context[ROOM] : null;
}
