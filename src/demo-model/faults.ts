/** Request checks that all vendors share: names, ids, and that each call has its result. Pure. */
import type { JsonObject } from "../domain/common/json.js";

export const NAME_PATTERN = "^[a-zA-Z0-9_-]{1,64}$";
const NAME = new RegExp(NAME_PATTERN);
const ID = /^[a-zA-Z0-9_-]+$/;

/** Something with a name or an id, and where it is in the body. */
export type Placed = { path: string; value: string };

export const isLegalName = (name: string): boolean => NAME.test(name);
export const isLegalId = (id: string): boolean => ID.test(id);

/** The first entry that is there a second time. */
export function firstRepeated(values: readonly string[]): string | undefined {
  return values.find((value, index) => values.indexOf(value) !== index);
}

/** Each object with its place in a list, as vendors write it: `messages[2]`, or `messages.2`. */
export function placed(
  name: string,
  list: readonly JsonObject[],
  style: "brackets" | "dots" = "brackets",
): { path: string; entry: JsonObject }[] {
  return list.map((entry, index) => ({
    path: style === "dots" ? `${name}.${index}` : `${name}[${index}]`,
    entry,
  }));
}
