/**
 * Validates the form of mutation inputs before they reach a command. Problems are collected, not thrown, and returned
 * together as `userErrors`. Commands check whether referenced objects exist and may be used.
 */
import {
  MAX_CLIENT_RESULT_CHARACTERS,
  MAX_CLIENT_TOOLS,
  MAX_LABELS,
  MAX_MESSAGE_CHARACTERS,
  MAX_MESSAGE_PARTS,
  MAX_TITLE_CHARACTERS,
  MIN_CLIENT_TOOL_TIMEOUT_MS,
} from "../../domain/common/limits.js";
import { areLongerThan, characterCount } from "../../domain/common/characters.js";
import { plainJson } from "../../domain/common/plain-json.js";
import { wellFormed } from "../../domain/common/well-formed.js";
import { NO_CLIENT_TOOL_TIMEOUT } from "../../domain/chats/client-tools.js";
import type { UserMessagePart, ToolResultPart } from "../../domain/chats/message-parts.js";
import type { ChatLabel, ClientTool } from "../../domain/chats/chat-state.js";
import type {
  ChatLabelInput,
  ClientToolInput,
  MessagePartInput,
  ToolResultInput,
} from "../../schema/chats/chat.input.js";
import { badInput } from "./errors.js";
import { databaseId } from "./public-ids.js";
import { type UserErrorObject, invalid } from "./user-errors.js";

/** Long enough for any label, short enough to display in a list. */
const MAX_LABEL_KEY_CHARACTERS = 64;
const MAX_LABEL_VALUE_CHARACTERS = 256;
/** Keys are stored and indexed. */
const MAX_IDEMPOTENCY_KEY_CHARACTERS = 200;
/** The maximum path length (4,096 bytes) on the systems that agents run on. */
const MAX_PATH_CHARACTERS = 4_096;
/** Tool names accepted by every vendor. */
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Parses message parts. Callers must not use the result if there are `problems`. */
export function readParts(
  inputs: readonly MessagePartInput[],
  problems: UserErrorObject[],
): UserMessagePart[] {
  if (inputs.length === 0) problems.push(invalid("A message needs at least one part.", "parts"));
  if (inputs.length > MAX_MESSAGE_PARTS) {
    problems.push(invalid(`A message has at most ${MAX_MESSAGE_PARTS} parts.`, "parts"));
    return [];
  }
  const parts = inputs.map((input, index) => readPart(input, index, problems));
  if (areLongerThan(parts.flatMap(textsOf), MAX_MESSAGE_CHARACTERS)) {
    problems.push(invalid(`A message has at most ${MAX_MESSAGE_CHARACTERS} characters.`, "parts"));
  }
  return parts;
}

function readPart(input: MessagePartInput, index: number, problems: UserErrorObject[]): UserMessagePart {
  if (input.text) {
    const { text } = input.text;
    if (text.trim() === "") problems.push(invalid("The text is blank.", "parts", index, "text", "text"));
    return { type: "text", text: wellFormed(text) };
  }
  if (input.file) {
    return { type: "file", fileId: databaseId("file", input.file.fileId, `parts[${index}].file.fileId`) };
  }
  if (!input.fileReference) throw badInput("A message part must have exactly one field.");
  const { path, startLine, endLine, content } = input.fileReference;
  const note = (message: string, field: string) =>
    problems.push(invalid(message, "parts", index, "fileReference", field));
  if (path.trim() === "") note("The path is blank.", "path");
  if (path.length > MAX_PATH_CHARACTERS)
    note(`A path has at most ${MAX_PATH_CHARACTERS} characters.`, "path");
  if (startLine < 1) note("Lines are counted from 1.", "startLine");
  if (endLine < startLine) note("The last line must not be before the first.", "endLine");
  return {
    ...{ type: "file-reference", startLine, endLine },
    ...{ path: wellFormed(path), content: wellFormed(content) },
  };
}

function textsOf(part: UserMessagePart): string[] {
  if (part.type === "text") return [part.text];
  return part.type === "file-reference" ? [part.content, part.path] : [];
}

/** Trims the title and removes U+0000, which PostgreSQL's text type cannot store. Undefined if absent. */
export function readTitle(title: string | null | undefined, problems: UserErrorObject[]): string | undefined {
  if (title == null) return undefined;
  const trimmed = wellFormed(title.replaceAll("\u0000", "").trim());
  if (trimmed === "") problems.push(invalid("The title is blank.", "title"));
  if (trimmed.length > MAX_TITLE_CHARACTERS) {
    problems.push(invalid(`A title has at most ${MAX_TITLE_CHARACTERS} characters.`, "title"));
  }
  return trimmed;
}

export function readLabels(
  inputs: readonly ChatLabelInput[] | null | undefined,
  problems: UserErrorObject[],
): ChatLabel[] | undefined {
  if (inputs == null) return undefined;
  if (inputs.length > MAX_LABELS) {
    problems.push(invalid(`A chat has at most ${MAX_LABELS} labels.`, "labels"));
    return [];
  }
  const keys = new Set<string>();
  return inputs.map(({ key, value }, index) => {
    const note = (message: string, field: string) => problems.push(invalid(message, "labels", index, field));
    if (key.trim() === "") note("The key is blank.", "key");
    if (key.length > MAX_LABEL_KEY_CHARACTERS) {
      note(`A key has at most ${MAX_LABEL_KEY_CHARACTERS} characters.`, "key");
    }
    if (value.length > MAX_LABEL_VALUE_CHARACTERS) {
      note(`A value has at most ${MAX_LABEL_VALUE_CHARACTERS} characters.`, "value");
    }
    if (keys.has(key)) note("The key is not unique.", "key");
    keys.add(key);
    return { key, value };
  });
}

export function readClientTools(
  inputs: readonly ClientToolInput[] | null | undefined,
  problems: UserErrorObject[],
): ClientTool[] | undefined {
  if (inputs == null) return undefined;
  if (inputs.length > MAX_CLIENT_TOOLS) {
    problems.push(invalid(`A chat has at most ${MAX_CLIENT_TOOLS} client tools.`, "clientTools"));
    return [];
  }
  const names = new Set<string>();
  return inputs.map(({ name, description, inputSchema, timeoutMs }, index) => {
    const note = (message: string, field: string) =>
      problems.push(invalid(message, "clientTools", index, field));
    if (!TOOL_NAME.test(name)) note("A tool's name must be 1 to 64 letters, digits, `_` or `-`.", "name");
    if (names.has(name)) note("The name is not unique.", "name");
    names.add(name);
    if (!isObjectSchema(inputSchema)) note("The schema must be a JSON Schema of type object.", "inputSchema");
    if (timeoutMs != null && timeoutMs !== NO_CLIENT_TOOL_TIMEOUT && timeoutMs < MIN_CLIENT_TOOL_TIMEOUT_MS) {
      const least = `A timeout must be at least ${MIN_CLIENT_TOOL_TIMEOUT_MS} milliseconds, or 0 for none.`;
      note(least, "timeoutMs");
    }
    return { name, description, inputSchema, ...(timeoutMs == null ? {} : { timeoutMs }) };
  });
}

/** The scalar accepts any JSON, so the declared type is not guaranteed yet. */
function isObjectSchema(schema: unknown): boolean {
  return typeof schema === "object" && schema !== null && "type" in schema && schema.type === "object";
}

export function readIdempotencyKey(
  key: string | null | undefined,
  problems: UserErrorObject[],
): string | undefined {
  if (key == null) return undefined;
  if (key === "" || key.length > MAX_IDEMPOTENCY_KEY_CHARACTERS || key.includes("\u0000")) {
    const message = `An idempotency key must have 1 to ${MAX_IDEMPOTENCY_KEY_CHARACTERS} characters, without U+0000.`;
    problems.push(invalid(message, "idempotencyKey"));
  }
  return key;
}

/** Parses tool results. A call answered twice is a problem, and so are results that exceed the total limit. */
export function readToolResults(
  inputs: readonly ToolResultInput[],
  problems: UserErrorObject[],
): Pick<ToolResultPart, "toolCallId" | "result" | "isError">[] {
  const seen = new Set<string>();
  let charactersLeft = MAX_CLIENT_RESULT_CHARACTERS;
  return inputs.map(({ toolCallId, result: given, isError }, index) => {
    const result = plainJson(given);
    const isFull = charactersLeft < 0;
    charactersLeft -= characterCount(JSON.stringify(result));
    if (charactersLeft < 0 && !isFull) {
      const message = `Results have at most ${MAX_CLIENT_RESULT_CHARACTERS} characters of JSON in total.`;
      problems.push(invalid(message, "results", index, "result"));
    }
    if (seen.has(toolCallId)) {
      problems.push(invalid("The call is answered twice.", "results", index, "toolCallId"));
    }
    seen.add(toolCallId);
    return { toolCallId, result, isError: isError ?? false };
  });
}
