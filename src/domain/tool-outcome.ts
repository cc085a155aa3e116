/** How one tool call ended, whoever ran the tool. */
import type { JsonValue } from "./json.js";

/** What the model reads. `isError` marks a call that did not do what it was asked. */
export type ToolOutcome = { result: JsonValue; isError: boolean };
