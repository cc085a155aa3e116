/** Words and schema of somebody else's tool, as they are offered to a model. */
import type { JsonObject } from "../../domain/common/json.js";
import { cutText } from "../../lib/text/utf8.js";
import { OPEN_SCHEMA, sanitizedSchema } from "./sanitized-schema.js";

/** A page of prose; longer ones cost more than they tell. */
const MAX_DESCRIPTION_BYTES = 8 * 1024;

/** `fallback` stands for a tool that says nothing of itself. */
export function sanitizedDescription(description: string, fallback: string): string {
  return cutText(description.trim() === "" ? fallback : description, MAX_DESCRIPTION_BYTES);
}

/** A schema that is wrong in a way nobody thought of is offered as one of anything: the server says what it wants. */
export async function sanitizedInputSchema(schema: JsonObject): Promise<JsonObject> {
  const offered = sanitizedSchema(schema);
  // Loaded with the first tool of somebody else: most turns have none.
  const { Ajv2020 } = await import("ajv/dist/2020.js");
  try {
    const isValid = new Ajv2020({ strict: false, logger: false }).validateSchema(offered);
    return isValid === true ? offered : OPEN_SCHEMA;
  } catch {
    // Nested too deeply to be looked at.
    return OPEN_SCHEMA;
  }
}
