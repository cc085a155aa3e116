/**
 * The budget of bytes that one response may read and carry. A document of a few hundred bytes can select a great deal,
 * the same text fifteen times over, so reads of rows take their bytes from the budget before the next read.
 */
import { GraphQLError } from "graphql";

/** A response's share of the user's total. `resize` returns false if the total would exceed its limit. */
export type ByteReservation = { readonly bytes: number; resize(bytes: number): boolean };

export class ResponseBudget {
  #taken = 0;

  constructor(
    readonly maxBytes: number,
    private readonly reservation?: ByteReservation,
  ) {}

  /** Bytes left to read. */
  get left(): number {
    return this.maxBytes - this.#taken;
  }

  /** Counts bytes that were read. Throws ANSWER_TOO_LARGE, or RATE_LIMITED if the user's total is exhausted. */
  take(bytes: number): void {
    this.#taken += bytes;
    if (this.#taken > this.maxBytes) throw responseTooLarge(this.maxBytes);
    if (this.reservation && !this.reservation.resize(this.reservation.bytes + bytes))
      throw tooManyBytesInFlight();
  }
}

/** Not retryable: the document must select less. */
export function responseTooLarge(maxBytes: number): GraphQLError {
  return new GraphQLError(
    `The response would exceed ${maxBytes} bytes: select fewer objects or smaller pages. Changes made by mutations remain.`,
    { extensions: { code: "ANSWER_TOO_LARGE", maxBytes } },
  );
}

/** Retryable once the client has read its other responses. */
export function tooManyBytesInFlight(): GraphQLError {
  return new GraphQLError("Too many bytes in flight: read your pending responses and streams, then retry.", {
    extensions: { code: "RATE_LIMITED", http: { status: 429 } },
  });
}
