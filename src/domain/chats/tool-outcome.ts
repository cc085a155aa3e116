/** How one tool call ended, whoever ran the tool. */
import type { JsonValue } from "../common/json.js";
import type { StoredFile } from "./message-parts.js";

/** A file as a tool gives it. `name` and `mediaType` are the tool's own words: nobody has checked them. */
export type ToolFile = { name: string; mediaType: string; bytes: Uint8Array };

/**
 * What the model reads. `isError` marks a call that did not do what it was asked. `files` come besides `result`, which
 * should say in words what they are: not every model sees them.
 */
export type ToolOutcome = { result: JsonValue; isError: boolean; files?: readonly ToolFile[] };

/** The same when its files are kept. */
export type StoredToolOutcome = { result: JsonValue; isError: boolean; files?: StoredFile[] };
