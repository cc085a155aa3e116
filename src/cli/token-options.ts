/** Parsers of the options of `parley token`. */
import { TOKEN_SCOPES, type TokenScope } from "../domain/users/viewer.js";

const DAY_MS = 86_400_000;
const MOST_DAYS = 36_500;
const DAYS = /^(\d{1,5})d$/;
const DATE = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** A list separated by commas; null when it is empty or contains an unknown scope. */
export function readScopes(text: string): TokenScope[] | null {
  const words = text.split(",").map((word) => word.trim().toLowerCase());
  const scopes = TOKEN_SCOPES.filter((scope) => words.includes(scope));
  const isKnown = words.every((word) => TOKEN_SCOPES.some((scope) => scope === word));
  return isKnown && scopes.length > 0 ? scopes : null;
}

/** Milliseconds since the epoch, in the future; null when the text is invalid. A date means its first moment in UTC. */
export function readExpiry(text: string, now: number): number | null {
  const days = Number(DAYS.exec(text)?.[1] ?? 0);
  if (days >= 1 && days <= MOST_DAYS) return now + days * DAY_MS;
  const at = DATE.test(text) ? Date.parse(text) : Number.NaN;
  // Date.parse lets 31 April roll over into May.
  const isReal =
    !Number.isNaN(at) &&
    new Date(`${text.slice(0, 10)}T00:00:00Z`).toISOString().startsWith(text.slice(0, 10));
  return isReal && at > now && at <= now + MOST_DAYS * DAY_MS ? at : null;
}
