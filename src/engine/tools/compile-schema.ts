/** Compiles the JSON Schemas of tools to checks, once each. Schemas may come from external servers. */
import type { ErrorObject, Options, ValidateFunction } from "ajv";
import type { JsonObject } from "../../domain/common/json.js";

/** Compilation time grows with the schema; a tool with a larger one checks its arguments itself. */
const MAX_SCHEMA_BYTES = 256 * 1024;

/** Empty = valid. Throws on values that are nested too deeply. */
export type SchemaCheck = (value: JsonObject) => ErrorObject[];
type CompiledSchema = { check: SchemaCheck } | { unusable: string };

/** Keyed by the schema object: the check is collected together with its tool. */
const compiled = new WeakMap<JsonObject, Promise<CompiledSchema>>();

/** Never rejects: `unusable` says why a schema cannot be used. */
export function compileSchema(schema: JsonObject): Promise<CompiledSchema> {
  const known = compiled.get(schema);
  if (known) return known;
  const made = compile(schema).catch((error: unknown) => ({ unusable: String(error) }));
  compiled.set(schema, made);
  return made;
}

/**
 * Matches everything. Regular expressions are left to the tool itself: one from an external server could block the whole
 * process. Every property then matches `patternProperties`, so none is reported as unknown.
 */
const matchAll = Object.assign(() => ({ test: () => true }), { code: "matchAll" });

const OPTIONS: Options = {
  // Unknown keywords and formats are the schema author's choice.
  strict: false,
  logger: false,
  allErrors: true,
  verbose: true,
  // A schema that references a definition a thousand times would be a thousand times as large.
  inlineRefs: false,
  // Misuse of a keyword fails the compilation anyway; the meta-schemas cost more than all our tools.
  validateSchema: false,
  addUsedSchema: false,
  code: { regExp: matchAll },
};

/** The first compares every pair of items, the second needs patterns. */
const LEFT_TO_THE_TOOL = ["uniqueItems", "patternProperties"] as const;

async function compile(schema: JsonObject): Promise<CompiledSchema> {
  if (Buffer.byteLength(JSON.stringify(schema)) > MAX_SCHEMA_BYTES) {
    return { unusable: `The schema has more than ${MAX_SCHEMA_BYTES} bytes.` };
  }
  // Loaded with the first tool call: a server that runs none does not need them.
  const { addFormats, Ajv, Ajv2020 } = await import("../../lib/ajv.js");
  // One instance each: two tools may use the same `$id`, and an instance keeps every schema it has seen.
  const compileWith = (Dialect: typeof Ajv | typeof Ajv2020): ValidateFunction => {
    const ajv = new Dialect(OPTIONS);
    for (const keyword of LEFT_TO_THE_TOOL) ajv.removeKeyword(keyword);
    addFormats(ajv, { mode: "fast" });
    // An asynchronous check would return a promise; `$schema` names a meta-schema that is not loaded.
    const { $async: _async, $schema: _dialect, ...rest } = schema;
    return ajv.compile(rest);
  };
  const isOld = typeof schema.$schema === "string" && /\/draft-0\d\//.test(schema.$schema);
  const [first, second] = isOld ? [Ajv, Ajv2020] : [Ajv2020, Ajv];
  let validate: ValidateFunction;
  try {
    validate = compileWith(first);
  } catch {
    // Many schemas do not declare their dialect; one that this dialect refuses is in the other.
    validate = compileWith(second);
  }
  return { check: (value) => (validate(value) ? [] : (validate.errors ?? [])) };
}
