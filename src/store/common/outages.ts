/**
 * Distinguishes outages of the database from bugs: by PostgreSQL's error codes, by those of the network, and by the
 * messages of the client library about its connections, which have no code.
 */
import { DatabaseUnavailable } from "../../domain/common/outages.js";

/** Classes of SQLSTATE (PostgreSQL's appendix A): connection, insufficient resources, the operating system's. */
const OUTAGE_CLASSES: ReadonlySet<string> = new Set(["08", "53", "58"]);
/** Single codes whose classes also contain other errors. */
const OUTAGE_CODES: ReadonlySet<string> = new Set([
  "57014", // query_canceled: by an operator, or by a limit that an operator has set
  "57P01", // admin_shutdown: also pg_terminate_backend
  "57P02", // crash_shutdown
  "57P03", // cannot_connect_now: starting or stopping
  "57P05", // idle_session_timeout
  "25P03", // idle_in_transaction_session_timeout
  "25P04", // transaction_timeout
  "25006", // read_only_sql_transaction: what was the primary before a fail-over
  "55P03", // lock_not_available: by an operator's lock_timeout
]);
const NETWORK_CODES: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "EHOSTDOWN",
  "ENETUNREACH",
  "ENETDOWN",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENOENT", // The embedded database's socket, while it is not listening.
]);
/** Of `pg` and `pg-pool`, and of TypeORM, which releases a broken connection while it is in use. */
const CLIENT_MESSAGES =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout exceeded when trying to connect|timeout expired|Query read timeout|The server closed the connection|This socket has been ended|write after end|Query runner already released)/i;

/** Whether an error of a statement or of a connection is an outage. */
export function isOutage(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable) return true;
  if (!(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (OUTAGE_CODES.has(code) || NETWORK_CODES.has(code) || CLIENT_MESSAGES.test(error.message)) return true;
  if (/^[0-9A-Z]{5}$/.test(code) && OUTAGE_CLASSES.has(code.slice(0, 2))) return true;
  // Several addresses of one name were tried; TypeORM keeps the driver's error beside its own.
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.every(isOutage);
  return "driverError" in error && error.driverError !== error && isOutage(error.driverError);
}

/** `DatabaseUnavailable` for an outage, any other error unchanged. */
export function asOutage(error: unknown): unknown {
  return error instanceof DatabaseUnavailable || !isOutage(error) ? error : new DatabaseUnavailable(error);
}
