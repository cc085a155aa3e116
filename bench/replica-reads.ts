/** Database cost of followers on other replicas, which receive a turn's events through Redis. */
import { setTimeout } from "node:timers/promises";
import { hasRedis, startRedis } from "../test/support/network/redis.js";
import type { Message } from "./chat.js";
import type { StatementCounts } from "./counted-parley.js";
import { Follower } from "./follower.js";
import { difference } from "./measurements.js";
import { nowMicros } from "./machine.js";
import { sayInParley, startParleyChat } from "./parley-chat.js";
import type { Stage } from "./subjects.js";

/** Statements of a replica whose subscribers follow chats that another one runs. */
export type ReplicaReads = {
  followers: number;
  turns: number;
  /** Beyond those of an idle replica, by follower and turn. */
  perFollowerAndTurn: number;
  byName: Record<string, number>;
};

const FOLLOWERS = 20;
const TURNS = 100;
const MESSAGE: Message = { deltas: 10, delayMs: 0 };
/** Longer than the interval of the sweep that compares all followed chats with the database. */
const IDLE_MS = 11_000;

/** Null where there is no redis-server. */
export async function countReplicaReads(stage: Stage): Promise<ReplicaReads | null> {
  if (!hasRedis) return null;
  const redis = await startRedis();
  try {
    const { worker, api } = await stage.startCountedReplicas(redis.url);
    const chatId = await startParleyChat(worker.address, MESSAGE);
    const followers: Follower[] = [];
    for (let count = 0; count < FOLLOWERS; count += 1)
      followers.push(await Follower.open(api.address, chatId));
    const idle = await difference(api, () => setTimeout(IDLE_MS));
    const startedAt = nowMicros();
    const busy = await difference(api, async () => {
      for (let turn = 0; turn < TURNS; turn += 1) {
        const seen = followers.map((follower) => follower.followTurn());
        await sayInParley(worker.address, chatId, MESSAGE);
        await Promise.all(seen);
      }
    });
    const idleShare = (nowMicros() - startedAt) / (IDLE_MS * 1_000);
    for (const follower of followers) await follower.close();
    for (const { program } of [api, worker]) await program.stop();
    return {
      followers: FOLLOWERS,
      turns: TURNS,
      perFollowerAndTurn: (busy.statements - idle.statements * idleShare) / FOLLOWERS / TURNS,
      byName: namesOf(busy),
    };
  } finally {
    await redis.stop();
  }
}

function namesOf({ byName }: StatementCounts): Record<string, number> {
  return Object.fromEntries(Object.entries(byName).filter(([, count]) => count > 0));
}
