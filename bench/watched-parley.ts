/**
 * Parley in a process that reports its memory use, with enough users for a thousand subscribers despite the limits per
 * user. On request each subscriber's events are executed for it alone: only to measure the gain.
 */
import { randomUUID } from "node:crypto";
import { startParley } from "../src/compose/server.js";
import { readConfig } from "../src/config/config.js";
import { SharedOperations } from "../src/http/subscriptions/shared-results.js";
import { createLog } from "../src/lib/log.js";
import { createToken } from "../src/store/users/tokens.js";
import { createUser } from "../src/store/users/users.js";
import { serveBench } from "./child-program.js";

/** What the program answers: tokens of users who may read every chat, and its memory without garbage, in bytes. */
export type WatchedState = { tokens: string[]; usedBytes: number; residentBytes: number };

/** With at most 256 subscriptions each, enough for a thousand. */
const USERS = 8;

await serveBench(async (settings) => {
  const { environment, isShared } = settings as { environment: Record<string, string>; isShared: boolean };
  if (!isShared) SharedOperations.prototype.keyOf = () => randomUUID();
  const config = readConfig(environment, environment["PARLEY_WORKSPACE_DIR"] ?? process.cwd());
  const parley = await startParley(config, createLog(config.logLevel));
  const tokens: string[] = [];
  for (let number = 0; number < USERS; number += 1) {
    const user = await createUser(parley.database, {
      username: `f${number}`,
      name: "Follower",
      role: "admin",
    });
    if (!user) throw new Error("There is already a follower of this name");
    tokens.push((await createToken(parley.database, { userId: user.id, name: "bench" })).token);
  }
  const answer = (): WatchedState => {
    // What the first collection finalizes is freed by the second.
    globalThis.gc?.();
    globalThis.gc?.();
    const { heapUsed, external, rss } = process.memoryUsage();
    return { tokens, usedBytes: heapUsed + external, residentBytes: rss };
  };
  return { url: parley.url ?? "", answer, close: () => parley.close() };
});
