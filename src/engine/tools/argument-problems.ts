/** Describes validation errors of a model's arguments, so that it can correct them. Pure. */
import type { ErrorObject } from "ajv";
import { cutText } from "../../lib/text/utf8.js";

const MAX_PROBLEMS = 10;
/** Names and values in a problem come from the model or from an external schema. */
const MAX_PROBLEM_BYTES = 300;
const MAX_CHOICES = 20;

/** "path: must be string, not number; unknown property `foo`": at most ten problems, then how many more. */
export function describeProblems(problems: readonly ErrorObject[]): string {
  const texts = [...new Set([...problems.flatMap(describe), ...problems.flatMap(describeUnknownProperties)])];
  const shown = texts.slice(0, MAX_PROBLEMS).map((text) => shorten(text));
  const rest = texts.length - shown.length;
  return `${shown.join("; ")}${rest > 0 ? `; and ${rest} more problems` : ""}.`;
}

function describe(problem: ErrorObject): string[] {
  const { keyword, instancePath, params } = problem;
  const at = pathText(instancePath);
  switch (keyword) {
    case "required":
    case "dependentRequired": {
      const name = String(params.missingProperty);
      return [`${join(at, name)}: is required${expected(problem.parentSchema, name)}`];
    }
    case "additionalProperties":
      return [`unknown property ${quote(join(at, String(params.additionalProperty)))}`];
    case "unevaluatedProperties":
      return [`unknown property ${quote(join(at, String(params.unevaluatedProperty)))}`];
    case "type":
      return [`${subject(at)}: must be ${typeNames(params.type)}, not ${typeOf(problem.data)}`];
    case "enum":
      return [`${subject(at)}: must be one of ${choices(params.allowedValues)}`];
    case "const":
      return [`${subject(at)}: must be ${JSON.stringify(params.allowedValue)}`];
    default:
      return [`${subject(at)}: ${problem.message ?? `breaks the rule ${keyword}`}`];
  }
}

/** Besides a missing property, its misspelt name is the best hint, even where a schema allows unknown properties. */
function describeUnknownProperties({ keyword, instancePath, parentSchema, data }: ErrorObject): string[] {
  if (keyword !== "required" || !isRecord(data) || !isRecord(parentSchema)) return [];
  const { properties } = parentSchema;
  if (
    !isRecord(properties) ||
    isRecord(parentSchema.additionalProperties) ||
    "patternProperties" in parentSchema
  ) {
    return [];
  }
  return Object.keys(data)
    .filter((name) => !Object.hasOwn(properties, name))
    .map((name) => `unknown property ${quote(join(pathText(instancePath), name))}`);
}

function expected(schema: unknown, name: string): string {
  const properties = isRecord(schema) ? schema.properties : undefined;
  const property = isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  return isRecord(property) && property.type !== undefined ? ` (${typeNames(property.type)})` : "";
}

function typeNames(type: unknown): string {
  return Array.isArray(type) ? type.join(" or ") : String(type);
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function choices(allowed: unknown): string {
  const values: unknown[] = Array.isArray(allowed) ? allowed : [];
  const shown = values.slice(0, MAX_CHOICES).map((value) => JSON.stringify(value));
  return values.length > MAX_CHOICES ? `${shown.join(", ")} or others` : shown.join(", ");
}

/** "/edits/0/old_text" becomes "edits[0].old_text"; the arguments themselves are "". */
function pathText(pointer: string): string {
  return pointer
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((path, key) => (/^\d+$/.test(key) ? `${path}[${key}]` : join(path, key)), "");
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function subject(path: string): string {
  return path === "" ? "the arguments" : path;
}

function quote(name: string): string {
  return `\`${name}\``;
}

function shorten(text: string): string {
  const cut = cutText(text, MAX_PROBLEM_BYTES);
  return cut === text ? text : `${cut}...`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
