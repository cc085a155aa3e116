/** Description and schema of an external tool, made fit for every vendor. */
import type { JsonObject } from "../../domain/common/json.js";
import { cutText } from "../../lib/text/utf8.js";
import { OPEN_SCHEMA, sanitizedSchema } from "./sanitized-schema.js";

/** A page of prose; a longer one costs more than it helps. */
const MAX_DESCRIPTION_BYTES = 8 * 1024;

/** `fallback` replaces an empty description. */
export function sanitizedDescription(description: string, fallback: string): string {
  return cutText(description.trim() === "" ? fallback : description, MAX_DESCRIPTION_BYTES);
}

/** A schema that is still invalid becomes one that accepts anything: the server validates the arguments. */
export async function sanitizedInputSchema(schema: JsonObject): Promise<JsonObject> {
  const sanitized = sanitizedSchema(schema);
  // Loaded with the first external tool: most turns have none.
  const { Ajv2020 } = await import("../../lib/ajv.js");
  try {
    const isValid = new Ajv2020({ strict: false, logger: false }).validateSchema(sanitized);
    return isValid === true ? sanitized : OPEN_SCHEMA;
  } catch {
    // Nested too deeply to be validated.
    return OPEN_SCHEMA;
  }
}
