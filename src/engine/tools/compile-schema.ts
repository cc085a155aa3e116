/** JSON Schemas of tools → checks, compiled once each. Schemas may come from other people's servers. */
import type { ErrorObject, Options, ValidateFunction } from "ajv";
import type { JsonObject } from "../../domain/common/json.js";

/** Compiling takes time that grows with the schema; a tool that needs more than this checks for itself. */
const MAX_SCHEMA_BYTES = 256 * 1024;

/** Empty = valid. Throws on values too deep to be walked. */
export type SchemaCheck = (value: JsonObject) => ErrorObject[];
export type CompiledSchema = { check: SchemaCheck } | { unusable: string };

/** Keyed by the schema object itself: a tool that is gone takes its check along. */
const compiled = new WeakMap<JsonObject, Promise<CompiledSchema>>();

/** Never rejects: a schema that cannot be used says why. */
export function compileSchema(schema: JsonObject): Promise<CompiledSchema> {
  const known = compiled.get(schema);
  if (known) return known;
  const made = compile(schema).catch((error: unknown) => ({ unusable: String(error) }));
  compiled.set(schema, made);
  return made;
}

/**
 * Regular expressions are left to the tool itself: one from somebody else's server could hold up the whole process.
 * Every property then counts as matched by `patternProperties`, so none is called unknown.
 */
const matchAll = Object.assign(() => ({ test: () => true }), { code: "matchAll" });

const OPTIONS: Options = {
  // Unknown keywords and formats are the business of whoever wrote the schema.
  strict: false,
  logger: false,
  allErrors: true,
  verbose: true,
  // A schema that says its own definitions a thousand times would be a thousand times as large.
  inlineRefs: false,
  // The wrong use of a keyword fails the compilation anyway; the meta-schemas cost more than all our tools.
  validateSchema: false,
  addUsedSchema: false,
  code: { regExp: matchAll },
};

/** Of these the first compares every pair of items, and the second is about patterns. */
const LEFT_TO_THE_TOOL = ["uniqueItems", "patternProperties"] as const;

async function compile(schema: JsonObject): Promise<CompiledSchema> {
  if (Buffer.byteLength(JSON.stringify(schema)) > MAX_SCHEMA_BYTES) {
    return { unusable: `The schema has more than ${MAX_SCHEMA_BYTES} bytes.` };
  }
  // Loaded with the first call of a tool: a server that runs none does not need them.
  const [{ Ajv }, { Ajv2020 }, formats] = await Promise.all([
    import("ajv"),
    import("ajv/dist/2020.js"),
    import("ajv-formats"),
  ]);
  // An instance each: two tools may use one `$id`, and an instance remembers every schema it has seen.
  const compileWith = (Dialect: typeof Ajv | typeof Ajv2020): ValidateFunction => {
    const ajv = new Dialect(OPTIONS);
    for (const keyword of LEFT_TO_THE_TOOL) ajv.removeKeyword(keyword);
    formats.default.default(ajv, { mode: "fast" });
    // An asynchronous check would answer with a promise; `$schema` names a meta-schema that is not loaded.
    const { $async: _async, $schema: _dialect, ...rest } = schema;
    return ajv.compile(rest);
  };
  const isOld = typeof schema.$schema === "string" && /\/draft-0\d\//.test(schema.$schema);
  const [first, second] = isOld ? [Ajv, Ajv2020] : [Ajv2020, Ajv];
  let validate: ValidateFunction;
  try {
    validate = compileWith(first);
  } catch {
    // Many schemas do not say which dialect they are in; what only one of them refuses is in the other.
    validate = compileWith(second);
  }
  return { check: (value) => (validate(value) ? [] : (validate.errors ?? [])) };
}
