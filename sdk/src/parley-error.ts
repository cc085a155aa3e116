/** What the SDK throws, and which failures of a stream are worth another try. */

/** One error of an answer, as GraphQL sends it. */
export type AnswerError = { message: string; path?: readonly unknown[]; extensions?: { code?: unknown } };

/** An operation failed, or a stream ended for good. */
export class ParleyError extends Error {
  override readonly name = "ParleyError";

  constructor(
    /**
     * The server's code (`FORBIDDEN`, `NOT_FOUND`, `BAD_USER_INPUT`, …), or one of the SDK's own: `UNAUTHENTICATED`
     * (no token that the server takes), `CONNECTION_LOST` (nobody knows whether the operation happened),
     * `CONNECTION_REFUSED` (server and client do not understand each other), `BAD_RESPONSE` (no GraphQL answer),
     * `CLOSED` (the client was closed). May grow.
     */
    readonly code: string,
    message: string,
    /** `errors` are the server's, as they came. */
    readonly details: { errors?: readonly AnswerError[]; cause?: unknown } = {},
  ) {
    super(message, { cause: details.cause });
  }
}

const UNKNOWN_CODE = "UNKNOWN";

/** The answer's errors as one; the code is the first error's. */
export function errorOfAnswer(errors: readonly AnswerError[]): ParleyError {
  const [first] = errors;
  const code = typeof first?.extensions?.code === "string" ? first.extensions.code : UNKNOWN_CODE;
  return new ParleyError(code, first?.message ?? "The server refused the operation.", { errors });
}

/** The same question gets the same answer: asking again would be of no use. */
const LASTING_CODES: ReadonlySet<string> = new Set([
  "ANSWER_TOO_LARGE",
  "BAD_REQUEST",
  "BAD_USER_INPUT",
  "FORBIDDEN",
  "GRAPHQL_PARSE_FAILED",
  "GRAPHQL_VALIDATION_FAILED",
  "NOT_FOUND",
  "OPERATION_RESOLUTION_FAILURE",
  "QUERY_TOO_COSTLY",
  "UNAUTHENTICATED",
]);

/**
 * Close codes of graphql-ws that say that one side does not understand the other: bad response, bad client, bad
 * request, unauthorized, no common protocol, id in use.
 */
const LASTING_CLOSE_CODES: ReadonlySet<number> = new Set([4004, 4005, 4400, 4401, 4406, 4409]);

/** The error to end a stream with, or null when it should be opened again. `reason` is whatever ended it. */
export function lastingFailure(reason: unknown): ParleyError | null {
  if (reason instanceof ParleyError) return LASTING_CODES.has(reason.code) ? reason : null;
  const code = closeCodeOf(reason);
  if (code === null || !LASTING_CLOSE_CODES.has(code)) return null;
  return new ParleyError("CONNECTION_REFUSED", `The connection was closed with ${code}.`, { cause: reason });
}

/** Null when it is not a close event. */
export function closeCodeOf(reason: unknown): number | null {
  if (typeof reason !== "object" || reason === null || !("code" in reason)) return null;
  return typeof reason.code === "number" ? reason.code : null;
}
