/** Template parameters: validation, values for a new workspace, and substitution into the template's spec. Pure. */
import type { JsonValue } from "../common/json.js";
import type { Problem } from "../mcp/field-rules.js";

export type TemplateParameter = {
  /** The spec refers to it as `${name}`. */
  name: string;
  displayName: string;
  description: string;
  /** A value is required where there is no default. */
  isRequired: boolean;
  defaultValue: string | null;
  /** Null = any text. */
  options: string[] | null;
};

const MAX_PARAMETERS = 50;
const MAX_PARAMETER_VALUE_CHARACTERS = 2_000;
const MAX_OPTIONS = 100;
const MAX_DESCRIPTION_CHARACTERS = 1_000;
const MAX_DISPLAY_NAME_CHARACTERS = 100;
const NAME = /^[a-z][a-z0-9_]{0,63}$/;

/** All problems of a template's parameters; `path` begins with `parameters`. */
export function problemsOfParameters(parameters: readonly TemplateParameter[]): Problem[] {
  if (parameters.length > MAX_PARAMETERS) {
    return [{ message: `A template may have at most ${MAX_PARAMETERS} parameters.`, path: ["parameters"] }];
  }
  const names = new Set<string>();
  return parameters.flatMap((parameter, index) => {
    const problems = problemsOfParameter(parameter);
    if (names.has(parameter.name)) problems.push({ message: "The name is used twice.", path: ["name"] });
    names.add(parameter.name);
    return problems.map(({ message, path }) => ({ message, path: ["parameters", String(index), ...path] }));
  });
}

function problemsOfParameter(parameter: TemplateParameter): Problem[] {
  const { name, displayName, description, defaultValue, options } = parameter;
  const problems: Problem[] = [];
  const note = (message: string, ...path: string[]) => void problems.push({ message, path });
  if (!NAME.test(name)) {
    note(
      "A parameter name must be a lower-case letter followed by up to 63 lower-case letters, digits or `_`.",
      "name",
    );
  }
  if (displayName.trim() === "" || displayName.length > MAX_DISPLAY_NAME_CHARACTERS) {
    note(`A display name must have 1 to ${MAX_DISPLAY_NAME_CHARACTERS} characters.`, "displayName");
  }
  if (description.length > MAX_DESCRIPTION_CHARACTERS) {
    note(`A description may have at most ${MAX_DESCRIPTION_CHARACTERS} characters.`, "description");
  }
  if (options !== null && (options.length === 0 || options.length > MAX_OPTIONS)) {
    note(`There must be 1 to ${MAX_OPTIONS} options; null = any text.`, "options");
  }
  for (const [index, option] of (options ?? []).entries()) {
    if (!isValue(option)) note(VALUE_RULE, "options", String(index));
  }
  if (defaultValue !== null && !isValue(defaultValue)) note(VALUE_RULE, "defaultValue");
  else if (defaultValue !== null && options !== null && !options.includes(defaultValue)) {
    note("The default must be one of the options.", "defaultValue");
  }
  return problems;
}

const VALUE_RULE = `A value may have at most ${MAX_PARAMETER_VALUE_CHARACTERS} characters, none of them U+0000.`;

function isValue(text: string): boolean {
  return text.length <= MAX_PARAMETER_VALUE_CHARACTERS && !text.includes("\u0000");
}

export type ParameterInput = { name: string; value: string };

/** A value for each parameter, or all problems; `path` begins with `parameters`. */
export function resolveParameters(
  parameters: readonly TemplateParameter[],
  inputs: readonly ParameterInput[],
): { ok: true; values: Record<string, string> } | { ok: false; problems: Problem[] } {
  const problems: Problem[] = [];
  const values = new Map<string, string>();
  for (const [index, { name, value }] of inputs.entries()) {
    const path = ["parameters", String(index)];
    const parameter = parameters.find((it) => it.name === name);
    if (parameter === undefined) problems.push({ message: unknownName(parameters), path: [...path, "name"] });
    else if (values.has(name)) problems.push({ message: "The parameter occurs twice.", path });
    else if (!isValue(value)) problems.push({ message: VALUE_RULE, path: [...path, "value"] });
    else if (parameter.options !== null && !parameter.options.includes(value)) {
      const message = `\`${name}\` must be one of: ${parameter.options.join(", ")}.`;
      problems.push({ message, path: [...path, "value"] });
    } else values.set(name, value);
  }
  for (const { name, isRequired, defaultValue } of parameters) {
    if (values.has(name)) continue;
    if (defaultValue !== null) values.set(name, defaultValue);
    else if (!isRequired) values.set(name, "");
    else if (!inputs.some((it) => it.name === name)) {
      problems.push({ message: `The parameter \`${name}\` is required.`, path: ["parameters"] });
    }
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, values: Object.fromEntries(values) };
}

function unknownName(parameters: readonly TemplateParameter[]): string {
  const names = parameters.map(({ name }) => name).join(", ");
  return names === ""
    ? "The template has no parameters."
    : `The template has no such parameter; it has: ${names}.`;
}

const PLACEHOLDER = /\$\{([a-z][a-z0-9_]*)\}/g;

/** Substitutes each `${name}` in the spec's texts. A value stays within its text, whatever it contains. */
export function withParameters<Spec extends JsonValue>(
  spec: Spec,
  values: Readonly<Record<string, string>>,
): Spec;
export function withParameters(spec: JsonValue, values: Readonly<Record<string, string>>): JsonValue {
  if (typeof spec === "string") {
    return spec.replace(PLACEHOLDER, (all, name: string) => values[name] ?? all);
  }
  if (Array.isArray(spec)) return spec.map((item) => withParameters(item, values));
  if (typeof spec !== "object" || spec === null) return spec;
  return Object.fromEntries(Object.entries(spec).map(([key, inner]) => [key, withParameters(inner, values)]));
}

/** Names that the spec refers to without such a parameter. */
export function unknownPlaceholders(spec: JsonValue, parameters: readonly TemplateParameter[]): string[] {
  const known = new Set(parameters.map(({ name }) => name));
  const used = [...JSON.stringify(spec).matchAll(PLACEHOLDER)].map((match) => match[1] ?? "");
  return [...new Set(used.filter((name) => !known.has(name)))];
}
