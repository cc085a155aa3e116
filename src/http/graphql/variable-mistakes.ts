/**
 * graphql-js repeats a wrong variable in its words, the whole input with every secret in it. Here is what is told
 * instead: where the mistake is, and what kind of mistake. Pure.
 */

const BEGINNING = /^Variable "\$(\w+)" got invalid value (.)/;
const PLACE = / at "([^"]*)"; /;

/** Reasons that repeat nothing but names of the schema, and the telling part of those that repeat a value. */
const REASONS: readonly RegExp[] = [
  /(Expected (?:non-nullable )?type "[^"]*" (?:to be an object|not to be null)\.)$/,
  /(Field "\w+" of required type "[^"]*" was not provided\.)$/,
  /(Exactly one key must be specified for OneOf type "\w+"\.)$/,
  /(JSON is nested at most \d+ deep\.)$/,
  /(\w+ cannot represent) [^\n]*$/,
  /does not exist (in "\w+" enum)\.[^\n]*$/,
];

/** The message as it was, unless it is about a variable that is an object or a list, or about something within one. */
export function withoutValues(message: string): string {
  const [, name, first = ""] = BEGINNING.exec(message) ?? [];
  // Within values, quotes are escaped; within reasons they are not.
  const place = PLACE.exec(message);
  if (name === undefined || (place === null && first !== "{" && first !== "[")) return message;
  const at = place?.[1] === undefined ? "" : ` at "${place[1]}"`;
  const reason = REASONS.map((form) => form.exec(message)?.[1]).find((text) => text !== undefined);
  const told = reason && inWords(reason);
  return `Variable "$${name}" got invalid value${at}; ${told ?? "It has a field or a value that its type does not have."}`;
}

function inWords(reason: string): string {
  if (reason.endsWith(" cannot represent")) return `${reason} this value.`;
  return reason.startsWith("in ") ? `There is no such value ${reason}.` : reason;
}
