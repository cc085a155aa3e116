/** Outcome of a tool call, for built-in tools and MCP tools alike. */
import type { JsonValue } from "../common/json.js";
import type { StoredFile } from "./message-parts.js";

/** A file that a tool returned. `name` and `mediaType` are the tool's own and unchecked. */
export type ToolFile = { name: string; mediaType: string; bytes: Uint8Array };

/**
 * The outcome as the model reads it. `isError` marks a call that failed. `files` come beside `result`, which should
 * describe them in words: not every model sees them.
 */
export type ToolOutcome = { result: JsonValue; isError: boolean; files?: readonly ToolFile[] };

/** The outcome once its files are stored. */
export type StoredToolOutcome = { result: JsonValue; isError: boolean; files?: StoredFile[] };
