/** Limits that several modules share, each with the reason for its number. A limit of one file lives in that file. */

/** Messages in one chat's queue. Every queue event carries the whole queue, so it stays small. */
export const MAX_QUEUED_MESSAGES = 50;

/** Default time limit for a client to answer its tool calls, where neither the deployment nor the tool sets one. */
export const CLIENT_TOOL_DEADLINE_MS = 5 * 60_000;

/** Attempts at one step before the turn fails. With the backoff that is about 20 minutes. */
export const MAX_ATTEMPTS_PER_STEP = 25;

/** Attempts at one step when the provider's address seems wrong: a server there may just be starting, no more than that. */
export const MAX_ATTEMPTS_AT_WRONG_ADDRESS = 3;

/**
 * Unicode characters of one user message, all its parts together; anything longer belongs in a file in the workspace.
 * The body size limit follows from it, see src/http/graphql/limits.ts.
 */
export const MAX_MESSAGE_CHARACTERS = 1_000_000;

/** Unicode characters of a client's tool results together, as JSON: they too become one message. */
export const MAX_CLIENT_RESULT_CHARACTERS = MAX_MESSAGE_CHARACTERS;

/** Parts of one user message. */
export const MAX_MESSAGE_PARTS = 100;

/** Characters of a chat's title. */
export const MAX_TITLE_CHARACTERS = 200;

/** Client tools of one chat. */
export const MAX_CLIENT_TOOLS = 250;

/** Shortest time limit of a client tool, in milliseconds: the call must reach the client, and its result the server. */
export const MIN_CLIENT_TOOL_TIMEOUT_MS = 1_000;

/** Labels of one chat. */
export const MAX_LABELS = 50;

/**
 * Requested output tokens where neither the model's configuration nor the deployment sets them: enough for reasoning and a
 * file of some thousand lines. The default of PARLEY_MAX_OUTPUT_TOKENS is the same.
 */
export const DEFAULT_MAX_OUTPUT_TOKENS = 32_000;
