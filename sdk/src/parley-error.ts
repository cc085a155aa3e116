/** Errors of the SDK, and the classification of stream failures as permanent or retryable. */

/** A GraphQL error of a response. */
export type AnswerError = { message: string; path?: readonly unknown[]; extensions?: { code?: unknown } };

/** A failed operation, or a permanently ended stream. */
export class ParleyError extends Error {
  override readonly name = "ParleyError";

  constructor(
    /**
     * The server's code (`FORBIDDEN`, `NOT_FOUND`, `BAD_USER_INPUT`, …), or one of the SDK's own: `UNAUTHENTICATED`
     * (no valid token), `CONNECTION_LOST` (it is unknown whether the operation happened),
     * `CONNECTION_REFUSED` (server and client are incompatible), `BAD_RESPONSE` (not a GraphQL response),
     * `CLOSED` (the client was closed). New codes may be added.
     */
    readonly code: string,
    message: string,
    /** `errors` are the server's, unchanged. */
    readonly details: { errors?: readonly AnswerError[]; cause?: unknown } = {},
  ) {
    super(message, { cause: details.cause });
  }
}

const UNKNOWN_CODE = "UNKNOWN";

/** One error for a response's errors, with the code and message of the first. */
export function errorOfAnswer(errors: readonly AnswerError[]): ParleyError {
  const [first] = errors;
  const code = typeof first?.extensions?.code === "string" ? first.extensions.code : UNKNOWN_CODE;
  return new ParleyError(code, first?.message ?? "The server refused the operation.", { errors });
}

/** Codes of permanent errors: a retry would get the same response. */
const PERMANENT_CODES: ReadonlySet<string> = new Set([
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
 * Close codes of graphql-ws for incompatible peers: bad response, bad client, bad request, unauthorized, no common
 * protocol, id in use.
 */
const PERMANENT_CLOSE_CODES: ReadonlySet<number> = new Set([4004, 4005, 4400, 4401, 4406, 4409]);

/** The error that ends a stream permanently, or null when it should be reopened. `reason` is what ended the connection. */
export function permanentFailure(reason: unknown): ParleyError | null {
  if (reason instanceof ParleyError) return PERMANENT_CODES.has(reason.code) ? reason : null;
  const code = closeCodeOf(reason);
  if (code === null || !PERMANENT_CLOSE_CODES.has(code)) return null;
  return new ParleyError("CONNECTION_REFUSED", `The connection was closed with ${code}.`, { cause: reason });
}

/** The code of a close event; null for anything else. */
export function closeCodeOf(reason: unknown): number | null {
  if (typeof reason !== "object" || reason === null || !("code" in reason)) return null;
  return typeof reason.code === "number" ? reason.code : null;
}
