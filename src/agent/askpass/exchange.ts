/** Messages between the askpass program and the agent: one line of JSON each way over a Unix socket. */

/** More than the longest prompt, key and two paths together. */
export const MAX_EXCHANGE_BYTES = 32 * 1024;
/** Longer than the agent needs at most: it runs git twice before it asks the server. */
export const EXCHANGE_TIMEOUT_MS = 20_000;

export type AskpassRequest = {
  /** Git's prompt, verbatim. */
  prompt: string;
  /** See `ChatKeys`; absent for a command of no chat. */
  key?: string;
  /** Git's working directory. */
  directory: string;
  /** Its `GIT_DIR`. */
  gitDirectory?: string;
};

/** `answer` is passed to git; `refusal` is a sentence for the reader of the command's output. */
export type AskpassAnswer = { answer: string } | { refusal: string };
