/** Parses time ranges. */
import type { DateRangeInput } from "../../schema/usage/date-range.input.js";
import { badInput } from "../common/errors.js";

/** In milliseconds since the epoch; `to` is exclusive. Throws BAD_USER_INPUT if the range is empty. */
export function readDateRange(
  range: DateRangeInput | null | undefined,
  field: string,
): { from: number; to: number } | undefined {
  if (range == null) return undefined;
  const { from, to } = range;
  if (from >= to) throw badInput(`${field}.to must be later than ${field}.from.`);
  return { from, to };
}
