/** Size limit of results, checked before they are serialized, which is where they would take memory. */
import type { ExecutionResult } from "graphql";
import { ByteReservation } from "../../lib/streams/byte-budget.js";
import { jsonSize } from "../../lib/text/json-size.js";
import { responseTooLarge, tooManyBytesInFlight } from "../../resolvers/common/response-budget.js";
import { SMALL_RESULT_BYTES } from "../subscriptions/output-queue.js";

/** Approximate size of an error with its path. */
const ERROR_BYTES = 512;

/** Size of a result as JSON; any number above `maxBytes` when it is larger. Small ones are only estimated. */
export function resultBytes({ data, errors }: ExecutionResult, maxBytes: number): number {
  return jsonSize(data, maxBytes, SMALL_RESULT_BYTES) + (errors?.length ?? 0) * ERROR_BYTES;
}

/**
 * The result of a query or mutation, or the error that replaces it. `reservation` then has its bytes. A mutation's result
 * is returned even if it exceeds the user's budget.
 */
export function boundResult(
  result: ExecutionResult,
  {
    maxBytes,
    reservation,
    isMutation,
  }: {
    maxBytes: number;
    reservation: ByteReservation;
    isMutation: boolean;
  },
): ExecutionResult {
  const bytes = resultBytes(result, maxBytes);
  const isTooLarge = bytes > maxBytes;
  const fits = !isTooLarge && (bytes <= SMALL_RESULT_BYTES || isMutation || reservation.resize(bytes));
  if (!fits) {
    reservation.force(0);
    return { data: null, errors: [isTooLarge ? responseTooLarge(maxBytes) : tooManyBytesInFlight()] };
  }
  reservation.force(bytes <= SMALL_RESULT_BYTES ? 0 : bytes);
  return result;
}

/** Key of the response's reservation in an operation's context. A symbol, so that no resolver reads it. */
const RESERVATION = Symbol("reservation for the response");

/** Adds the reservation to a context; Apollo copies the context shallowly. */
export function withReservation<Context extends object>(
  context: Context,
  reservation: ByteReservation,
): Context {
  return { ...context, [RESERVATION]: reservation };
}

/** The reservation that `withReservation` added. */
export function reservationIn(context: object): ByteReservation | null {
  return RESERVATION in context && context[RESERVATION] instanceof ByteReservation
    ? context[RESERVATION]
    : null;
}
