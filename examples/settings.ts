/** What all examples are told: where the server is, who asks, and what is said. */

export const url = process.env["PARLEY_URL"] ?? "http://127.0.0.1:4000";

/** The server prints the administrator's token at its first start. */
export const token = process.env["PARLEY_TOKEN"] ?? "";

export const text = process.argv[2] ?? "run `ls`, then read package.json";

/** Where subscriptions are. */
export const socketUrl = `${url.replace(/^http/, "ws")}/graphql`;

/** Waits before a lost connection is tried again: at random, so that many clients do not come back in one moment. */
export function pause(): Promise<void> {
  const MOST_MS = 1_000;
  return new Promise((resolve) => setTimeout(resolve, Math.random() * MOST_MS));
}
