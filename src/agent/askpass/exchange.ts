/** What the askpass program and the agent say to each other: one line of JSON each way over a unix socket. */

/** More than the longest prompt, key and two paths together. */
export const MAX_EXCHANGE_BYTES = 32 * 1024;
/** More than the agent needs at most, with a look at the repository before the question. */
export const EXCHANGE_TIMEOUT_MS = 20_000;

export type AskpassRequest = {
  /** What git asks, word for word. */
  prompt: string;
  /** Shows for which chat the command runs; absent: for none. */
  key?: string;
  /** Where git asks. */
  directory: string;
  /** Its `GIT_DIR`. */
  gitDirectory?: string;
};

/** `answer` is what git is told; `refusal` a sentence for whoever reads the command's output. */
export type AskpassAnswer = { answer: string } | { refusal: string };
