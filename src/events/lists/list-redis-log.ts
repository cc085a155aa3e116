/**
 * The newest list news of each person in Redis: one capped stream per person, gone a day after its last news. An
 * entry is logged and told in one step, by a script, since only Redis knows the id it gives; so all replicas hear the
 * news of a list in the log's order, each with the id before it.
 */
import type { createClient } from "redis";
import type { ListEntry, ListNews } from "../../domain/chats/list-events.js";
import type { LoggedList } from "../bus/bus.js";
import { MAX_LOGGED_NEWS } from "./list-log.js";
import { listKey, listRanksKey, listTopic } from "../bus/redis-envelope.js";

/** A person who comes back later reads the list anew, which costs no more than a first visit. */
const EXPIRY_MS = 24 * 60 * 60_000;
const NEWS = "n";
/** An entry without news, for a place to stand at in an empty log. */
const ANCHOR = "a";

// KEYS: log, topic, ranks. ARGV: how many entries, expiry, what the news is about, its rank, how to tell, beginning of
// the envelope, news, news without its change. The envelope's end is put together here.
const APPEND_AND_TELL = `
  local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
  local after = newest and '"' .. newest[1] .. '"' or 'null'
  local rank = tonumber(redis.call('HGET', KEYS[3], ARGV[3]) or '0')
  local news = ARGV[7]
  if rank > tonumber(ARGV[4]) then news = ARGV[8]
  else redis.call('HSET', KEYS[3], ARGV[3], ARGV[4]) end
  local id = redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', '${NEWS}', news)
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  redis.call('PEXPIRE', KEYS[3], ARGV[2])
  redis.call(ARGV[5], KEYS[2], ARGV[6] .. ',"news":' .. news .. ',"id":"' .. id .. '","after":' .. after .. '}')
  return id`;

type Client = ReturnType<typeof createClient>;

/** `origin` is the process that tells; `isSharded` how topics are subscribed to. */
export type Telling = { origin: string; isSharded: boolean };

export class RedisListLog {
  constructor(private readonly client: Client) {}

  async append(ownerId: string, news: ListNews, { origin, isSharded }: Telling): Promise<void> {
    const envelope = JSON.stringify({ origin, type: "list", ownerId }).slice(0, -1);
    const texts = [news, { ...news, change: null }].map((told) => JSON.stringify(told));
    const command = isSharded ? "SPUBLISH" : "PUBLISH";
    const bounds = [`${MAX_LOGGED_NEWS}`, `${EXPIRY_MS}`];
    await this.client.eval(APPEND_AND_TELL, {
      keys: [listKey(ownerId), listTopic(ownerId), listRanksKey(ownerId)],
      arguments: [...bounds, news.about, `${news.rank}`, command, envelope, ...texts],
    });
  }

  /** Begins the log where there is none, so that its reader has a place. */
  async read(ownerId: string, after: string | null): Promise<LoggedList> {
    const key = listKey(ownerId);
    if (after !== null) {
      const found = (await this.client.xRange(key, after, "+")) ?? [];
      // Only an entry that is still there proves that nothing behind it was taken away.
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

/** `found` begins with the place to go on from. */
function toEntries(found: { id: string; message: Record<string, string> }[]): ListEntry[] {
  return found.slice(1).flatMap(({ id, message }, index) => {
    const news = message[NEWS];
    return news === undefined
      ? []
      : [{ ...(JSON.parse(news) as ListNews), id, after: found[index]?.id ?? null }];
  });
}
