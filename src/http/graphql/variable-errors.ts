/**
 * Redaction of variable errors: graphql-js quotes an invalid variable in its message, with every secret in it. The
 * redacted message only has the location and the kind of the error. Pure.
 */

const BEGINNING = /^Variable "\$(\w+)" got invalid value (.)/;
const LOCATION = / at "([^"]*)"; /;

/** Reasons that only name parts of the schema, and the safe part of those that quote a value. */
const REASONS: readonly RegExp[] = [
  /(Expected (?:non-nullable )?type "[^"]*" (?:to be an object|not to be null)\.)$/,
  /(Field "\w+" of required type "[^"]*" was not provided\.)$/,
  /(Exactly one key must be specified for OneOf type "\w+"\.)$/,
  /(JSON is nested at most \d+ deep\.)$/,
  /(\w+ cannot represent) [^\n]*$/,
  /does not exist (in "\w+" enum)\.[^\n]*$/,
];

/** Redacts messages about variables that are objects or lists, or about values within them; returns others unchanged. */
export function withoutValues(message: string): string {
  const [, name, first = ""] = BEGINNING.exec(message) ?? [];
  // Within values, quotes are escaped; within reasons they are not.
  const location = LOCATION.exec(message);
  if (name === undefined || (location === null && first !== "{" && first !== "[")) return message;
  const at = location?.[1] === undefined ? "" : ` at "${location[1]}"`;
  const reason = REASONS.map((form) => form.exec(message)?.[1]).find((text) => text !== undefined);
  const sentence = reason && toSentence(reason);
  return `Variable "$${name}" got invalid value${at}; ${sentence ?? "It has a field or a value that its type does not have."}`;
}

function toSentence(reason: string): string {
  if (reason.endsWith(" cannot represent")) return `${reason} this value.`;
  return reason.startsWith("in ") ? `There is no such value ${reason}.` : reason;
}
