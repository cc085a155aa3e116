/**
 * Error mask for all transports. Intended errors (a GraphQLError with a code, Forbidden) pass; a database outage becomes
 * UNAVAILABLE; every other error is logged with a reference and becomes INTERNAL_SERVER_ERROR with that reference and
 * nothing else.
 */
import { randomUUID } from "node:crypto";
import { GraphQLError, type GraphQLFormattedError } from "graphql";
import { DatabaseUnavailable, isDiskFull } from "../../domain/common/outages.js";
import { STORAGE_FULL_TEXT } from "../../domain/files/storage-limits.js";
import { Forbidden } from "../../domain/users/viewer.js";
import type { Log } from "../../lib/log.js";
import { withoutValues } from "./variable-errors.js";

/** Temporary: the same request may succeed later. */
const OUTAGE = { message: "The database cannot be reached right now; try again.", code: "UNAVAILABLE" };
const INTERNAL_CODE = "INTERNAL_SERVER_ERROR";
/** Extensions that are removed. */
const PRIVATE_EXTENSIONS: ReadonlySet<string> = new Set(["http", "stacktrace", "exception"]);
/** Codes of errors about the request, whose messages graphql-js and Apollo write for clients. */
const REQUEST_CODES: ReadonlySet<unknown> = new Set([
  "BAD_USER_INPUT",
  "GRAPHQL_VALIDATION_FAILED",
  "GRAPHQL_PARSE_FAILED",
]);
/** Suggestions of names of the schema, which are removed in production. */
const SUGGESTION = / ?Did you mean (.+?)\?$/;

/** Converts anything thrown into an error that the client may see. Never throws. */
export type ErrorMask = (error: unknown) => GraphQLFormattedError;

/** The reference connects the client's error with the log line. Each thrown object is logged once. */
export function createErrorMask(options: { log: Log; isProduction: boolean }): ErrorMask {
  const references = new WeakMap<object, string>();

  const report = (cause: unknown, path: GraphQLError["path"]): string => {
    const known = typeof cause === "object" && cause !== null ? references.get(cause) : undefined;
    if (known) return known;
    const reference = randomUUID();
    if (typeof cause === "object" && cause !== null) references.set(cause, reference);
    options.log.error({ err: cause, reference, path }, "request failed with an internal error");
    return reference;
  };

  return (error) => {
    const cause = findCause(error);
    if (cause instanceof Forbidden) {
      const at = error instanceof GraphQLError ? error : undefined;
      return { message: cause.message, ...locationOf(at), extensions: { code: "FORBIDDEN" } };
    }
    if (cause instanceof DatabaseUnavailable || isDiskFull(cause)) {
      const at = error instanceof GraphQLError ? error : undefined;
      options.log.warn({ err: cause, path: at?.path }, "request failed: database unavailable");
      const message = isDiskFull(cause) ? STORAGE_FULL_TEXT : OUTAGE.message;
      return { message, ...locationOf(at), extensions: { code: OUTAGE.code } };
    }
    if (!isPublic(error, cause)) {
      const at = error instanceof GraphQLError ? error : undefined;
      const reference = report(cause, at?.path);
      return {
        message: "Internal server error.",
        ...locationOf(at),
        extensions: { code: INTERNAL_CODE, reference },
      };
    }
    const plain = withoutValues(error.message);
    const message = options.isProduction ? plain.replace(SUGGESTION, "") : plain;
    return { message, ...locationOf(error), extensions: publicExtensions(error, cause) };
  };
}

/** The innermost error: graphql-js and Apollo wrap what was thrown. */
function findCause(error: unknown): unknown {
  let cause = error;
  while (cause instanceof GraphQLError && cause.originalError) cause = cause.originalError;
  return cause;
}

function isPublic(error: unknown, cause: unknown): error is GraphQLError {
  if (!(error instanceof GraphQLError)) return false;
  const isAboutRequest = error.path === undefined;
  // Scalars may reject a variable with any error; graphql-js writes its message, and Apollo sets the code.
  if (!(cause instanceof GraphQLError)) return isAboutRequest && REQUEST_CODES.has(error.extensions.code);
  const code = cause.extensions.code ?? error.extensions.code;
  if (code === INTERNAL_CODE) return false;
  // Without a code but with a path it is graphql-js' error about our own result.
  return isAboutRequest || typeof code === "string";
}

function locationOf(error: GraphQLError | undefined): Pick<GraphQLFormattedError, "locations" | "path"> {
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
