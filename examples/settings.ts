/** Settings of all examples: the server's address, the token, and the message. */

export const url = process.env["PARLEY_URL"] ?? "http://127.0.0.1:4000";

/** The server prints the administrator's token at its first start. */
export const token = process.env["PARLEY_TOKEN"] ?? "";

export const text = process.argv[2] ?? "run `ls`, then read package.json";

/** Address of subscriptions. */
export const socketUrl = `${url.replace(/^http/, "ws")}/graphql`;

/** Delay before a reconnect: random, so that many clients do not reconnect at the same moment. */
export function pause(): Promise<void> {
  const MOST_MS = 1_000;
  return new Promise((resolve) => setTimeout(resolve, Math.random() * MOST_MS));
}
