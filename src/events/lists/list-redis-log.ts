/**
 * Redis log of the newest updates of each user's chat list: one capped stream per user, expiring a day after its last
 * update. A script appends an entry and publishes it in one step, since only Redis knows the entry's id; so all replicas
 * receive a list's updates in the log's order, each with the id of the one before.
 */
import type { createClient } from "redis";
import type { ListEntry, ListUpdate } from "../../domain/chats/list-events.js";
import type { LoggedList } from "../bus/bus.js";
import { MAX_LOGGED_UPDATES } from "./list-log.js";
import { listKey, listRanksKey, listTopic } from "../bus/redis-envelope.js";
import { fromWireUpdate, toWireUpdate, type WireUpdate } from "../bus/wire-format.js";

/** A user who returns later refreshes the list, which costs no more than a first visit. */
const EXPIRY_MS = 24 * 60 * 60_000;
const UPDATE = "n";
/** An entry without an update, which gives an empty log a position. */
const ANCHOR = "a";

// KEYS: log, topic, ranks. ARGV: maximal entries, expiry, subject, rank, publish command, beginning of the envelope,
// update, update without its change. The script appends the rest of the envelope.
const APPEND_AND_PUBLISH = `
  local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
  local after = newest and '"' .. newest[1] .. '"' or 'null'
  local rank = tonumber(redis.call('HGET', KEYS[3], ARGV[3]) or '0')
  local update = ARGV[7]
  if rank > tonumber(ARGV[4]) then update = ARGV[8]
  else redis.call('HSET', KEYS[3], ARGV[3], ARGV[4]) end
  local id = redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', '${UPDATE}', update)
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  redis.call('PEXPIRE', KEYS[3], ARGV[2])
  redis.call(ARGV[5], KEYS[2], ARGV[6] .. ',"news":' .. update .. ',"id":"' .. id .. '","after":' .. after .. '}')
  return id`;

type Client = ReturnType<typeof createClient>;

/** `origin` identifies the publishing process; `isSharded`: whether topics are sharded. */
export type PublishOptions = { origin: string; isSharded: boolean };

export class RedisListLog {
  constructor(private readonly client: Client) {}

  async append(ownerId: string, update: ListUpdate, { origin, isSharded }: PublishOptions): Promise<void> {
    const envelope = JSON.stringify({ origin, type: "list", ownerId }).slice(0, -1);
    const wire = toWireUpdate(update);
    const texts = [wire, { ...wire, change: null }].map((it) => JSON.stringify(it));
    const command = isSharded ? "SPUBLISH" : "PUBLISH";
    const bounds = [`${MAX_LOGGED_UPDATES}`, `${EXPIRY_MS}`];
    await this.client.eval(APPEND_AND_PUBLISH, {
      keys: [listKey(ownerId), listTopic(ownerId), listRanksKey(ownerId)],
      arguments: [...bounds, update.subject, `${update.rank}`, command, envelope, ...texts],
    });
  }

  /** Reads the entries after `after`; creates the log if there is none, so that its reader has a position. */
  async read(ownerId: string, after: string | null): Promise<LoggedList> {
    const key = listKey(ownerId);
    if (after !== null) {
      const found = (await this.client.xRange(key, after, "+")) ?? [];
      // Only an entry that still exists proves that none after it was removed.
      if (found[0]?.id === after) return { last: found.at(-1)?.id ?? after, entries: toEntries(found) };
    }
    const [newest] = (await this.client.xRevRange(key, "+", "-", { COUNT: 1 })) ?? [];
    const last = newest?.id ?? (await this.#begin(key));
    return { last, entries: after === null ? [] : null };
  }

  async #begin(key: string): Promise<string> {
    const [id] = await Promise.all([
      this.client.xAdd(key, "*", { [ANCHOR]: "1" }),
      this.client.pExpire(key, EXPIRY_MS),
    ]);
    return id;
  }
}

/** `found` starts with the entry to continue after. */
function toEntries(found: { id: string; message: Record<string, string> }[]): ListEntry[] {
  return found.slice(1).flatMap(({ id, message }, index) => {
    const text = message[UPDATE];
    if (text === undefined) return [];
    const update = fromWireUpdate(JSON.parse(text) as WireUpdate);
    return [{ ...update, id, after: found[index]?.id ?? null }];
  });
}
