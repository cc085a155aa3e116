/** Bounds that several rooms share. Each number says where it comes from; a bound of one file lives in that file. */

/** Messages that may wait in one chat's queue. The queue travels whole in every queue event, so it stays small. */
export const MAX_QUEUED_MESSAGES = 50;

/** How long a chat waits for the client to answer its own tool calls, where neither the deployment nor the tool says. */
export const CLIENT_TOOL_DEADLINE_MS = 5 * 60_000;

/** Model calls tried for one step before the turn fails. With the backoff below that is about 20 minutes. */
export const MAX_ATTEMPTS_PER_STEP = 25;

/** Model calls tried for one step when the address seems wrong: what listens there may just be starting, no more than that. */
export const MAX_ATTEMPTS_AT_WRONG_ADDRESS = 3;

/**
 * Unicode characters of one user message, all its parts together. Beyond that a file in the workspace is the better place.
 * The size of a request's body follows from it, see src/http/graphql/limits.ts.
 */
export const MAX_MESSAGE_CHARACTERS = 1_000_000;

/** Unicode characters of the results, as JSON, with which a client answers its open calls: they become one message, too. */
export const MAX_CLIENT_RESULT_CHARACTERS = MAX_MESSAGE_CHARACTERS;

/** Parts of one user message. */
export const MAX_MESSAGE_PARTS = 100;

/** Characters of a chat's title. */
export const MAX_TITLE_CHARACTERS = 200;

/** Tools that a client may bring to one chat. */
export const MAX_CLIENT_TOOLS = 250;

/** Shortest deadline of a client's tool in milliseconds: the call has to reach the client and its result the server. */
export const MIN_CLIENT_TOOL_TIMEOUT_MS = 1_000;

/** Labels on one chat. */
export const MAX_LABELS = 50;

/**
 * Output tokens asked of a model whose configuration is silent, unless the deployment says otherwise: a file of some
 * thousand lines, with thought before it. The default of PARLEY_MAX_OUTPUT_TOKENS is the same.
 */
export const DEFAULT_MAX_OUTPUT_TOKENS = 32_000;
