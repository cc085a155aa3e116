/**
 * Content version 0: the stored form of messages before every role had the same parts. A row is one of
 *
 * - a bare string (system, user),
 * - a list of envelopes `{type, data: {…}}` of the model library of that time (assistant, user),
 * - a list of result rows `{tool_call_id, tool_name, result, is_error}` without a type (tool),
 * - a list of parts, as now or with names in snake_case (every role).
 *
 * No part of version 1 has a field `data` that is an object, so an envelope is never mistaken for one. Nothing
 * writes version 0, and its U+E000 is only that: the escape for U+0000 came with version 1.
 */
import type { JsonObject } from "../common/json.js";
import type { MessagePart, MessageRole, StoredFile } from "./message-parts.js";

/** Thrown for a row whose content has none of the forms of its role. Showing less than it contains would lose text. */
export class MalformedContent extends Error {
  override readonly name = "MalformedContent";

  constructor(
    readonly role: MessageRole,
    reason: string,
  ) {
    super(`The content of a stored ${role} message is malformed: ${reason}.`);
  }
}

type Fields = Record<string, unknown>;

/** Parts that carried instructions and skills to the model; a turn now reads those from the workspace itself. */
const CONTEXT_TYPES: ReadonlySet<unknown> = new Set(["context-file", "skill"]);

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Parts of a version 0 row; `content` is parsed JSON. Empty content has no parts. Throws `MalformedContent` for unknown forms. */
export function partsOfVersion0(role: MessageRole, content: unknown): MessagePart[] {
  if (content === null || content === undefined) return [];
  if (typeof content === "string") {
    if (role !== "system" && role !== "user") throw new MalformedContent(role, "it is a bare text");
    return content.trim() === "" ? [] : [{ type: "text", text: content }];
  }
  if (!Array.isArray(content)) throw new MalformedContent(role, `it is ${kindOf(content)}, not a list`);
  return content.flatMap((block: unknown, index) => {
    if (!isObject(block))
      throw new MalformedContent(role, `block ${index} is ${kindOf(block)}, not an object`);
    return partOf(block, new Reader(role, index, isEnvelope(block)));
  });
}

/** Whether the block is in version 0's envelope; no part of version 1 ever is. */
export function isEnvelope(block: unknown): block is { type: string; data: Fields } {
  return isObject(block) && typeof block.type === "string" && isObject(block.data);
}

function partOf(block: Fields, reader: Reader): MessagePart[] {
  if (isEnvelope(block)) return typedPart(block.type, block.data, reader);
  if (typeof block.type === "string") return typedPart(block.type, block, reader);
  if (reader.role === "tool" && "result" in block) return [toolResult(block, reader)];
  throw reader.malformed("has no type");
}

function typedPart(type: string, fields: Fields, reader: Reader): MessagePart[] {
  if (CONTEXT_TYPES.has(type)) return [];
  switch (type) {
    case "text":
      return [{ type, text: reader.text(fields, "text"), ...metadataOf(fields) }];
    case "reasoning":
      return [reasoning(fields, reader)];
    case "tool-call":
      return [toolCall(fields, reader)];
    case "tool-result":
      return [toolResult(fields, reader)];
    case "source":
      return source(fields, reader);
    case "file":
      return [file(fields, reader)];
    case "file-reference":
      return [fileReference(fields, reader)];
    case "notice":
      return [{ type, level: "warning", text: reader.text(fields, "text"), ...serverOf(fields, reader) }];
    default:
      throw reader.malformed(`has the unknown type ${JSON.stringify(type)}`);
  }
}

function reasoning(fields: Fields, reader: Reader): MessagePart {
  const metadata = metadataOf(fields);
  const own = metadata.providerMetadata?.anthropic;
  const isRedacted = fields.isRedacted === true || (isObject(own) && typeof own.redactedData === "string");
  const text = reader.text(fields, "text");
  return { type: "reasoning", text, ...(isRedacted && { isRedacted }), ...metadata };
}

function toolCall(fields: Fields, reader: Reader): MessagePart {
  return {
    type: "tool-call",
    toolCallId: reader.text(fields, "tool_call_id", "toolCallId"),
    toolName: reader.text(fields, "tool_name", "toolName"),
    arguments: argumentsOf(fields.input ?? fields.args ?? fields.arguments),
    ...executionOf(fields),
    ...(fields.isCut === true && { isCut: true as const }),
    ...serverOf(fields, reader),
    ...numberOf(fields, "startedAt"),
    ...metadataOf(fields),
  };
}

function serverOf(fields: Fields, reader: Reader): { mcpServerId?: string } {
  const mcpServerId = reader.text(fields, "mcp_server_config_id", "mcpServerId");
  return UUID.test(mcpServerId) ? { mcpServerId } : {};
}

/** A tool call's arguments; `{}` when they were not valid JSON, since a history must stay readable. */
function argumentsOf(value: unknown): JsonObject {
  const parsed = typeof value === "string" ? parse(value) : value;
  return isObject(parsed) ? (parsed as JsonObject) : {};
}

function toolResult(fields: Fields, reader: Reader): MessagePart {
  const { result, isError } = outcomeOf(fields, reader.isEnveloped);
  return {
    type: "tool-result",
    toolCallId: reader.text(fields, "tool_call_id", "toolCallId"),
    toolName: reader.text(fields, "tool_name", "toolName"),
    result: result as JsonObject[string],
    isError,
    ...filesOf(fields, reader),
    ...numberOf(fields, "startedAt"),
    ...numberOf(fields, "durationMs"),
    ...executionOf(fields),
    ...metadataOf(fields),
  };
}

/** Only rows with the names of version 1 have one. */
function numberOf<Name extends string>(fields: Fields, name: Name): Partial<Record<Name, number>> {
  const value = fields[name];
  return typeof value === "number" ? ({ [name]: value } as Partial<Record<Name, number>>) : {};
}

/** Only rows with the names of version 1 have any. */
function filesOf(fields: Fields, reader: Reader): { files?: StoredFile[] } {
  if (!Array.isArray(fields.files)) return {};
  const files = fields.files.filter(isObject).map((file) => ({
    fileId: reader.text(file, "fileId"),
    name: reader.text(file, "name"),
    mediaType: reader.text(file, "mediaType"),
    sizeBytes: reader.number(file, "sizeBytes"),
  }));
  return { files };
}

/** Envelopes wrap the result once more, `{type: "text" | "error" | "media", data}`, with JSON as text. */
function outcomeOf(fields: Fields, isEnveloped: boolean): { result: unknown; isError: boolean } {
  const result = fields.result ?? null;
  const isError = (fields.is_error ?? fields.isError) === true;
  if (!isEnveloped || !isEnvelope(result)) return { result, isError };
  const { type, data } = result;
  if (type === "error" && typeof data.error === "string")
    return { result: { error: data.error }, isError: true };
  if (type === "text" && typeof data.text === "string")
    return { result: parse(data.text) ?? data.text, isError };
  return { result: data, isError };
}

/** A source without an address cannot be cited; nothing else is known of it. */
function source(fields: Fields, reader: Reader): MessagePart[] {
  const url = reader.text(fields, "url");
  const title = reader.text(fields, "title");
  return url === "" ? [] : [{ type: "source", url, ...(title !== "" && { title }) }];
}

/** Inline bytes are not supported any more: only a note that there was a file remains. */
function file(fields: Fields, reader: Reader): MessagePart {
  const fileId = reader.text(fields, "file_id", "fileId");
  const mediaType = reader.text(fields, "media_type", "mediaType") || "application/octet-stream";
  if (fileId === "") return { type: "text", text: `[A file was here: ${mediaType}. It was not stored.]` };
  if (!UUID.test(fileId)) throw reader.malformed("has a file_id that is no UUID");
  const name = reader.text(fields, "name", "file_name") || "file";
  return {
    type: "file",
    fileId,
    name,
    mediaType,
    sizeBytes: reader.number(fields, "size_bytes", "sizeBytes"),
  };
}

function fileReference(fields: Fields, reader: Reader): MessagePart {
  return {
    type: "file-reference",
    path: reader.text(fields, "file_name", "path"),
    startLine: reader.number(fields, "start_line", "startLine"),
    endLine: reader.number(fields, "end_line", "endLine"),
    content: reader.text(fields, "content"),
  };
}

function executionOf(fields: Fields): { isProviderExecuted?: boolean } {
  const isProviderExecuted = fields.provider_executed ?? fields.isProviderExecuted;
  return isProviderExecuted === true ? { isProviderExecuted } : {};
}

/** Metadata that vendors require back to accept their own reasoning, by its current names. The rest served that library. */
const METADATA_NAMES: Readonly<Record<string, string>> = {
  signature: "signature",
  redacted_data: "redactedData",
  redactedData: "redactedData",
  item_id: "itemId",
  itemId: "itemId",
  encrypted_content: "encryptedContent",
  encryptedContent: "encryptedContent",
  content: "content",
};

function metadataOf(fields: Fields): { providerMetadata?: JsonObject } {
  const metadata = fields.provider_metadata ?? fields.providerMetadata;
  if (!isObject(metadata)) return {};
  const vendors = Object.entries(metadata).flatMap(([vendor, value]): [string, JsonObject][] => {
    if (!isObject(value)) return [];
    const known = Object.entries(isEnvelope(value) ? value.data : value).flatMap(([name, inner]) => {
      const now = Object.hasOwn(METADATA_NAMES, name) ? METADATA_NAMES[name] : undefined;
      return now === undefined || inner === "" || inner === null ? [] : [[now, inner] as const];
    });
    return known.length === 0 ? [] : [[vendor, Object.fromEntries(known) as JsonObject]];
  });
  return vendors.length === 0 ? {} : { providerMetadata: Object.fromEntries(vendors) };
}

/** Reads fields of one block; a missing one is empty, one of another type is malformed. */
class Reader {
  constructor(
    readonly role: MessageRole,
    private readonly index: number,
    readonly isEnveloped: boolean,
  ) {}

  text(fields: Fields, ...names: string[]): string {
    const value = this.#first(fields, names) ?? "";
    if (typeof value !== "string")
      throw this.malformed(`has a ${names[0]} that is ${kindOf(value)}, not text`);
    return value;
  }

  number(fields: Fields, ...names: string[]): number {
    const value = this.#first(fields, names) ?? 0;
    if (typeof value !== "number")
      throw this.malformed(`has a ${names[0]} that is ${kindOf(value)}, not a number`);
    return value;
  }

  malformed(reason: string): MalformedContent {
    return new MalformedContent(this.role, `block ${this.index} ${reason}`);
  }

  #first(fields: Fields, names: string[]): unknown {
    return names.map((name) => fields[name]).find((value) => value !== undefined && value !== null);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
