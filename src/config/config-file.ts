// The configuration file: the settings by their names, in YAML.
import { parseDocument } from "yaml";
import { z } from "zod";
import { closestName } from "./closest-name.js";

/** The file in the data folder. */
export const CONFIG_FILE = "parley.config.yaml";

export type ConfigFileContent = { values: Record<string, string>; problems: string[] };

const scalarSchema = z.union([z.string(), z.number(), z.boolean()]);
const valueSchema = z.union([scalarSchema, z.array(scalarSchema), z.null()]);

/** The settings as texts, like variables of an environment; nothing but problems when the file is invalid. */
export function parseConfigFile(text: string, path: string, names: readonly string[]): ConfigFileContent {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error) return { values: {}, problems: [`${path} is not valid YAML: ${firstLine(error.message)}`] };
  const content: unknown = document.toJS() ?? {};
  if (typeof content !== "object" || content === null || Array.isArray(content))
    return {
      values: {},
      problems: [`${path} must have one setting on each line, such as PARLEY_PORT: 8080.`],
    };
  const values: Record<string, string> = {};
  const problems: string[] = [];
  for (const [name, value] of Object.entries(content)) {
    const read = valueSchema.safeParse(value);
    if (!names.includes(name)) problems.push(unknownSetting(name, path, names));
    else if (!read.success) problems.push(`${name} in ${path} must be a text, a number, on, off or a list.`);
    else if (read.data !== null) values[name] = textOf(read.data);
  }
  return problems.length > 0 ? { values: {}, problems } : { values, problems };
}

function unknownSetting(name: string, path: string, names: readonly string[]): string {
  // Without the prefix, which would make all names similar.
  const bare = names.map(withoutPrefix);
  const closest = closestName(withoutPrefix(name), bare);
  const hint = closest === null ? null : (names[bare.indexOf(closest)] ?? null);
  return `${name} in ${path} is not a setting.${hint === null ? "" : ` Did you mean ${hint}?`}`;
}

function withoutPrefix(name: string): string {
  return name.toUpperCase().replace(/^PARLEY_/, "");
}

/** Lists are separated by commas, as in variables; `true` and `false` are on and off. */
function textOf(value: z.infer<typeof valueSchema>): string {
  if (Array.isArray(value)) return value.map(textOf).join(",");
  if (typeof value === "boolean") return value ? "on" : "off";
  return String(value);
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? text;
}
