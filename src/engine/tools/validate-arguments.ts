/**
 * Validates a model's arguments against the JSON Schema of the tool, before the tool sees them.
 *
 * Only for tools that this server runs. Arguments of a client's own tools are passed on as the model wrote them: the
 * client made the schema, may accept more than it says, and can explain a mistake better.
 */
import type { ErrorObject } from "ajv";
import type { JsonObject, JsonValue } from "../../domain/common/json.js";
import { compileSchema, type SchemaCheck } from "./compile-schema.js";
import { describeProblems } from "./argument-problems.js";

/** A repaired list may contain values that need repair themselves; text is not nested in text more deeply than this. */
const MAX_REPAIRS = 3;

/** `unchecked` says why the schema could not be used; the tool then has to validate the arguments itself. */
type CheckedArguments =
  { isValid: true; args: JsonObject; unchecked?: string } | { isValid: false; error: string };

/**
 * Never rejects. Three slips of models are repaired when that makes the arguments valid, because each has only one
 * meaning: a number or boolean written as text where no text is allowed ("10", "true"; only in its one exact form, so
 * "010" and "1e1" are not), a list or object written as text that is its JSON, and `null` for an optional property
 * that may not be null. Nothing is rounded, cut, wrapped or turned into text.
 */
export async function validateArguments(schema: JsonObject, args: JsonObject): Promise<CheckedArguments> {
  const compiled = await compileSchema(schema);
  if ("unusable" in compiled) return { isValid: true, args, unchecked: compiled.unusable };
  try {
    const problems = compiled.check(args);
    if (problems.length === 0) return { isValid: true, args };
    const repaired = repair(compiled.check, args, problems);
    return repaired
      ? { isValid: true, args: repaired }
      : { isValid: false, error: `Invalid arguments. ${describeProblems(problems)}` };
  } catch (error) {
    return { isValid: true, args, unchecked: String(error) };
  }
}

/** Valid arguments of the same meaning, or undefined. */
function repair(check: SchemaCheck, args: JsonObject, problems: ErrorObject[]): JsonObject | undefined {
  const copy = structuredClone(args);
  let open = problems;
  for (let round = 0; round < MAX_REPAIRS; round += 1) {
    const repairs = open.map((problem) => repairOne(copy, problem));
    if (!repairs.includes(true)) return undefined;
    open = check(copy);
    if (open.length === 0) return copy;
  }
  return undefined;
}

/** Repairs `args` in place if the problem is a slip; returns whether it was one. */
function repairOne(args: JsonObject, problem: ErrorObject): boolean {
  if (problem.keyword !== "type") return false;
  const target = resolvePointer(args, problem.instancePath);
  if (!target) return false;
  const { parent, key } = target;
  const value = Array.isArray(parent) ? parent[Number(key)] : parent[key];
  if (value === null && !Array.isArray(parent)) return delete parent[key];
  const wanted: unknown = problem.params.type;
  const meant =
    typeof value === "string" ? meaningOf(value, Array.isArray(wanted) ? wanted : [wanted]) : undefined;
  if (meant === undefined) return false;
  if (Array.isArray(parent)) parent[Number(key)] = meant;
  else parent[key] = meant;
  return true;
}

function meaningOf(text: string, wanted: readonly unknown[]): JsonValue | undefined {
  if (wanted.includes("string")) return undefined;
  const isNumber = String(Number(text)) === text && Number.isFinite(Number(text));
  if (
    isNumber &&
    (wanted.includes("number") || (wanted.includes("integer") && Number.isSafeInteger(Number(text))))
  ) {
    return Number(text);
  }
  if (wanted.includes("boolean") && (text === "true" || text === "false")) return text === "true";
  if (!wanted.includes("array") && !wanted.includes("object")) return undefined;
  const parsed = parse(text);
  if (Array.isArray(parsed)) return wanted.includes("array") ? parsed : undefined;
  return typeof parsed === "object" && parsed !== null && wanted.includes("object") ? parsed : undefined;
}

function parse(text: string): JsonValue | undefined {
  try {
    const value: JsonValue = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/** Parent and key of a JSON pointer's value; undefined for the arguments themselves and for missing values. */
function resolvePointer(
  args: JsonObject,
  pointer: string,
): { parent: JsonObject | JsonValue[]; key: string } | undefined {
  const keys = pointer.split("/").slice(1);
  const key = unescapePointer(keys.pop());
  if (key === undefined) return undefined;
  let parent: JsonValue = args;
  for (const step of keys) {
    if (typeof parent !== "object" || parent === null) return undefined;
    const name = unescapePointer(step) ?? "";
    if (!Object.hasOwn(parent, name)) return undefined;
    parent = Array.isArray(parent) ? (parent[Number(name)] ?? null) : (parent[name] ?? null);
  }
  return typeof parent === "object" && parent !== null && Object.hasOwn(parent, key)
    ? { parent, key }
    : undefined;
}

function unescapePointer(key: string | undefined): string | undefined {
  return key?.replaceAll("~1", "/").replaceAll("~0", "~");
}
