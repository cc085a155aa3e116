/**
 * Results of the agent's operations. A refusal is a value with an HTTP status, so that only the HTTP server knows
 * HTTP.
 */

/** `field` names the part of the request that is wrong; `detail` is the system's own message. */
export type Refusal = {
  kind: "refused";
  status: number;
  message: string;
  field?: string;
  detail?: string;
};

export type Outcome<Value> = { kind: "done"; value: Value } | Refusal;

export function done<Value>(value: Value): Outcome<Value> {
  return { kind: "done", value };
}

export function refused(
  status: number,
  message: string,
  more: { field?: string; detail?: string } = {},
): Refusal {
  return { kind: "refused", status, message, ...more };
}

/** The system's code of an error (`ENOENT`), or undefined when it has none. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
