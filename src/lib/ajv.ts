/**
 * Validators of JSON Schema. Imported when first needed: a server that calls no tool does not pay for them.
 * A module of its own, because a bundled program cannot read the names of a CommonJS package from `import()`.
 */
import formats from "ajv-formats";

export { Ajv } from "ajv";
export { Ajv2020 } from "ajv/dist/2020.js";

/** Adds the formats of the specification, such as `date-time`, to a validator. */
export const addFormats = formats.default;
