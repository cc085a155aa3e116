/**
 * Sanitizes the JSON Schema of an external tool for every vendor: one invalid schema makes a vendor refuse the whole
 * model call. Valid parts are unchanged. Arguments are not validated against it; the MCP server does that. Pure.
 */
import type { JsonObject, JsonValue } from "../../domain/common/json.js";

/** Deeper schemas exceed vendors' limits; below it anything is accepted. */
const MAX_DEPTH = 32;
/** Schemas that are merged into the top, counted once per reference: references can double without end. */
const MAX_PARTS = 200;
/** Vendors refuse requests with other property names. */
const PROPERTY_NAME = /^[A-Za-z0-9_.-]{1,64}$/;

const TYPES = new Set<JsonValue>(["object", "array", "string", "number", "integer", "boolean", "null"]);
const MAPS = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
const LISTS = new Set(["anyOf", "oneOf", "allOf"]);
const SINGLES = new Set(["additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"]);
/** They name the dialect or the schema itself, which becomes part of ours. */
const DROPPED = new Set([
  "$schema",
  "$id",
  "id",
  "$anchor",
  "$dynamicAnchor",
  "$dynamicRef",
  "$recursiveRef",
]);
/** What vendors refuse beside `type: "object"` at the top. */
const COMBINING = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "enum", "const", "$ref"];

/** Accepts any arguments. */
export const OPEN_SCHEMA: JsonObject = { type: "object", properties: {} };

/** Returns an object schema with `properties`, in the dialect of 2020-12. */
export function sanitizedSchema(schema: JsonObject): JsonObject {
  const top = flatten(schema, { root: schema, left: MAX_PARTS });
  const cleaned = cleanSchema({ ...top, type: "object" }, schema, 0);
  return { ...cleaned, type: "object", properties: asObject(cleaned.properties) ?? {} };
}

/** The top level without references and alternatives: the properties of all of them, required only where all agree. */
function flatten(schema: JsonObject, budget: { root: JsonObject; left: number }): JsonObject {
  const plain = Object.fromEntries(Object.entries(schema).filter(([key]) => !COMBINING.includes(key)));
  const inner = (value: JsonValue | undefined) => {
    const part = asObject(value);
    if (part === undefined || budget.left <= 0) return [];
    budget.left -= 1;
    return [flatten(part, budget)];
  };
  const all = [...inner(resolve(schema.$ref, budget.root)), ...asList(schema.allOf).flatMap(inner)];
  const alternatives = [...asList(schema.anyOf), ...asList(schema.oneOf)].flatMap(inner);
  const common = alternatives.map(requiredOf);
  const required = [
    ...[plain, ...all].flatMap(requiredOf),
    ...(common[0] ?? []).filter((name) => common.every((names) => names.includes(name))),
  ];
  const parts = [...alternatives, ...all, plain];
  const properties = Object.assign({}, ...parts.map((part) => asObject(part.properties) ?? {})) as JsonObject;
  const definitions = Object.assign({}, ...all.map(withoutShape)) as JsonObject;
  return {
    ...definitions,
    ...plain,
    properties,
    ...(required.length > 0 && { required: [...new Set(required)] }),
  };
}

function withoutShape({ properties: _, required: _required, ...rest }: JsonObject): JsonObject {
  return rest;
}

/** Resolves a reference of the form `#/…`. */
function resolve(reference: JsonValue | undefined, root: JsonObject): JsonValue | undefined {
  if (typeof reference !== "string") return undefined;
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let value: JsonValue | undefined = root;
  for (const step of reference.slice(2).split("/")) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    const parent: JsonObject | undefined = asObject(value);
    value = parent !== undefined && Object.hasOwn(parent, key) ? parent[key] : undefined;
  }
  return value;
}

function clean(value: JsonValue | undefined, root: JsonObject, depth: number): JsonObject {
  const schema = asObject(value);
  if (schema === undefined) return value === false ? { not: {} } : {};
  return depth >= MAX_DEPTH ? {} : cleanSchema(schema, root, depth);
}

function cleanSchema(schema: JsonObject, root: JsonObject, depth: number): JsonObject {
  const cleaned: JsonObject = {};
  for (const [key, value] of Object.entries(schema)) {
    const cleanedValue = cleanKeyword(key, value, { schema, root, depth });
    if (cleanedValue !== undefined) cleaned[key] = cleanedValue;
  }
  const items = itemsOf(schema, root, depth);
  if (items !== undefined) cleaned.items = items;
  const names = asObject(cleaned.properties);
  if (names !== undefined && Array.isArray(cleaned.required)) {
    const isRefused = (name: JsonValue) => typeof name === "string" && !PROPERTY_NAME.test(name);
    cleaned.required = cleaned.required.filter((name) => !isRefused(name));
  }
  return cleaned;
}

type SchemaPosition = { schema: JsonObject; root: JsonObject; depth: number };

/** Undefined for a keyword that is dropped. */
function cleanKeyword(
  key: string,
  value: JsonValue,
  { schema, root, depth }: SchemaPosition,
): JsonValue | undefined {
  if (DROPPED.has(key) || key === "items" || key === "prefixItems" || key === "additionalItems")
    return undefined;
  if (MAPS.has(key)) return cleanMap(key, value, root, depth);
  if (LISTS.has(key)) {
    const list = asList(value).map((inner) => clean(inner, root, depth + 1));
    return list.length === 0 ? undefined : list;
  }
  if (SINGLES.has(key)) return typeof value === "boolean" ? value : clean(value, root, depth + 1);
  switch (key) {
    case "$ref":
      return resolve(value, root) === undefined ? undefined : value;
    case "type":
      return cleanType(value);
    case "enum":
      return Array.isArray(value) && value.length > 0 ? value : undefined;
    case "required":
      return Array.isArray(value)
        ? [...new Set(value.filter((name) => typeof name === "string"))]
        : undefined;
    case "exclusiveMinimum":
      return value === true ? schema.minimum : numberOnly(value);
    case "exclusiveMaximum":
      return value === true ? schema.maximum : numberOnly(value);
    case "description":
    case "title":
    case "pattern":
    case "format":
      return typeof value === "string" ? value : undefined;
    default:
      return value;
  }
}

function cleanMap(key: string, value: JsonValue, root: JsonObject, depth: number): JsonObject | undefined {
  const map = asObject(value);
  if (map === undefined) return undefined;
  const entries = Object.entries(map).filter(([name]) => key !== "properties" || PROPERTY_NAME.test(name));
  return Object.fromEntries(entries.map(([name, inner]) => [name, clean(inner, root, depth + 1)]));
}

function cleanType(type: JsonValue): JsonValue | undefined {
  if (!Array.isArray(type)) return TYPES.has(type) ? type : undefined;
  const known = [...new Set(type.filter((name) => TYPES.has(name)))];
  return known.length === 0 ? undefined : known;
}

/** Lists get an `items` schema: vendors require it, and not all accept one schema per position. */
function itemsOf(schema: JsonObject, root: JsonObject, depth: number): JsonObject | undefined {
  const { items, prefixItems, additionalItems } = schema;
  const positional = [...asList(prefixItems), ...asList(items)];
  if (positional.length > 0) {
    const rest = Array.isArray(items) ? additionalItems : items;
    const any = [...positional, ...(asObject(rest) === undefined ? [] : [rest])];
    return { anyOf: any.map((inner) => clean(inner, root, depth + 1)) };
  }
  if (items !== undefined && !Array.isArray(items))
    return clean(items === false ? {} : items, root, depth + 1);
  const isList = schema.type === "array" || asList(schema.type).includes("array");
  return isList || items !== undefined ? {} : undefined;
}

function requiredOf(schema: JsonObject): string[] {
  return asList(schema.required).filter((name) => typeof name === "string");
}

function numberOnly(value: JsonValue): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function asList(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function asObject(value: JsonValue | undefined): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
}
