/**
 * What one answer may read and carry. A document of a few hundred bytes can ask for a great deal, the same text fifteen
 * times over; whoever reads rows for an answer takes their bytes from its budget before the next are read.
 */
import { GraphQLError } from "graphql";

/** Where an answer's bytes are counted beside those of the user's other ones; false = there is no room for so many. */
export type UserRoom = { readonly bytes: number; resize(bytes: number): boolean };

export class AnswerBudget {
  #taken = 0;

  constructor(
    readonly maxBytes: number,
    private readonly room?: UserRoom,
  ) {}

  /** Bytes that may still be read. */
  get left(): number {
    return this.maxBytes - this.#taken;
  }

  /** Counts what was read. Throws ANSWER_TOO_LARGE, or RATE_LIMITED when the user's other answers leave no room. */
  take(bytes: number): void {
    this.#taken += bytes;
    if (this.#taken > this.maxBytes) throw answerTooLarge(this.maxBytes);
    if (this.room && !this.room.resize(this.room.bytes + bytes)) throw tooMuchUnderWay();
  }
}

/** Asking again gives the same: the document must ask for less. */
export function answerTooLarge(maxBytes: number): GraphQLError {
  return new GraphQLError(
    `The answer would be larger than ${maxBytes} bytes: ask for fewer objects or smaller pages at a time. What a mutation has changed stays changed.`,
    { extensions: { code: "ANSWER_TOO_LARGE", maxBytes } },
  );
}

/** Works again when the client has taken its other answers. */
export function tooMuchUnderWay(): GraphQLError {
  return new GraphQLError(
    "Too many bytes are under way to you: read the answers and streams that you have asked for, then ask again.",
    { extensions: { code: "RATE_LIMITED", http: { status: 429 } } },
  );
}
