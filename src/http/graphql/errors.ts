/**
 * What leaves the server when something goes wrong: one function for answers over HTTP, answers over a socket and
 * events of a subscription. Errors raised on purpose (a GraphQLError with a code, Forbidden) pass; an outage of the
 * database leaves as UNAVAILABLE; every other one is logged with a reference and leaves as INTERNAL_SERVER_ERROR with that
 * reference and nothing else.
 */
import { randomUUID } from "node:crypto";
import { GraphQLError, type GraphQLFormattedError } from "graphql";
import { DatabaseUnavailable, isDiskFull } from "../../domain/common/outages.js";
import { STORAGE_FULL_TEXT } from "../../domain/files/storage-limits.js";
import { Forbidden } from "../../domain/users/viewer.js";
import type { Log } from "../../lib/log.js";
import { withoutValues } from "./variable-mistakes.js";

/** Temporary: the same request may succeed later. */
const OUTAGE = { message: "The database cannot be reached right now; try again.", code: "UNAVAILABLE" };
const INTERNAL_CODE = "INTERNAL_SERVER_ERROR";
/** Extensions that are for the server's own eyes. */
const PRIVATE_EXTENSIONS: ReadonlySet<string> = new Set(["http", "stacktrace", "exception"]);
/** Codes of errors about the request's form, which graphql-js and Apollo word for clients. */
const REQUEST_CODES: ReadonlySet<unknown> = new Set([
  "BAD_USER_INPUT",
  "GRAPHQL_VALIDATION_FAILED",
  "GRAPHQL_PARSE_FAILED",
]);
/** Names of types and fields that the asker has not named; in production the schema does not help to guess. */
const SUGGESTION = / ?Did you mean (.+?)\?$/;

/** Turns anything thrown into what the client may see. Never throws. */
export type ErrorMask = (error: unknown) => GraphQLFormattedError;

/** The reference joins the client's error with the log line. One throwable is logged once, however often it shows. */
export function createErrorMask(options: { log: Log; isProduction: boolean }): ErrorMask {
  const references = new WeakMap<object, string>();

  const report = (cause: unknown, path: GraphQLError["path"]): string => {
    const known = typeof cause === "object" && cause !== null ? references.get(cause) : undefined;
    if (known) return known;
    const reference = randomUUID();
    if (typeof cause === "object" && cause !== null) references.set(cause, reference);
    options.log.error({ err: cause, reference, path }, "A request failed for a reason of our own");
    return reference;
  };

  return (error) => {
    const cause = findCause(error);
    if (cause instanceof Forbidden) {
      const at = error instanceof GraphQLError ? error : undefined;
      return { message: cause.message, ...place(at), extensions: { code: "FORBIDDEN" } };
    }
    if (cause instanceof DatabaseUnavailable || isDiskFull(cause)) {
      const at = error instanceof GraphQLError ? error : undefined;
      options.log.warn({ err: cause, path: at?.path }, "A request failed: the database does not serve");
      const message = isDiskFull(cause) ? STORAGE_FULL_TEXT : OUTAGE.message;
      return { message, ...place(at), extensions: { code: OUTAGE.code } };
    }
    if (!isForClients(error, cause)) {
      const at = error instanceof GraphQLError ? error : undefined;
      const reference = report(cause, at?.path);
      return {
        message: "Internal server error.",
        ...place(at),
        extensions: { code: INTERNAL_CODE, reference },
      };
    }
    const plain = withoutValues(error.message);
    const message = options.isProduction ? plain.replace(SUGGESTION, "") : plain;
    return { message, ...place(error), extensions: publicExtensions(error, cause) };
  };
}

/** The error at the bottom: graphql-js and Apollo wrap what was thrown. */
function findCause(error: unknown): unknown {
  let cause = error;
  while (cause instanceof GraphQLError && cause.originalError) cause = cause.originalError;
  return cause;
}

function isForClients(error: unknown, cause: unknown): error is GraphQLError {
  if (!(error instanceof GraphQLError)) return false;
  const isAboutRequest = error.path === undefined;
  // Scalars may refuse a variable with an error of any kind, which graphql-js words and Apollo marks.
  if (!(cause instanceof GraphQLError)) return isAboutRequest && REQUEST_CODES.has(error.extensions.code);
  const code = cause.extensions.code ?? error.extensions.code;
  if (code === INTERNAL_CODE) return false;
  // Without a code and inside the answer it is graphql-js' complaint about our own result.
  return isAboutRequest || typeof code === "string";
}

function place(error: GraphQLError | undefined): Pick<GraphQLFormattedError, "locations" | "path"> {
  return {
    ...(error?.locations && { locations: error.locations }),
    ...(error?.path && { path: error.path }),
  };
}

function publicExtensions(error: GraphQLError, cause: unknown): Record<string, unknown> {
  const own = cause instanceof GraphQLError ? cause.extensions : {};
  const all = { code: "BAD_USER_INPUT", ...error.extensions, ...own };
  return Object.fromEntries(Object.entries(all).filter(([name]) => !PRIVATE_EXTENSIONS.has(name)));
}
