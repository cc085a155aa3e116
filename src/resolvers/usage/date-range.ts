/** Stretches of time that people ask for. */
import type { DateRangeInput } from "../../schema/usage/date-range.input.js";
import { badInput } from "../common/errors.js";

/** Milliseconds since the epoch; `to` is not in it. Throws BAD_USER_INPUT when there is nothing in between. */
export function readDateRange(
  range: DateRangeInput | null | undefined,
  field: string,
): { from: number; to: number } | undefined {
  if (range == null) return undefined;
  const { from, to } = range;
  if (from >= to) throw badInput(`${field}.to must be later than ${field}.from.`);
  return { from, to };
}
