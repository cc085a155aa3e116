/** News on its way through Redis: the names of topics and keys, and the form of what they carry. */
import type { Generation, LiveBatch } from "../../domain/chats/chat-events.js";
import type { ConfigTopic } from "../../domain/common/config-topic.js";
import type { ListNews } from "../../domain/chats/list-events.js";
import type { HeardNews } from "./bus.js";

/** `origin` names the process that sent it, so that it can pass over its own. */
export type Envelope = { origin: string } & (
  | { type: "saved"; news: HeardNews }
  | { type: "live"; batch: LiveBatch }
  | { type: "wake" }
  | { type: "config"; topic: ConfigTopic }
  /** `id` and `after` are put in by Redis. */
  | { type: "list"; ownerId: string; news: ListNews; id: string; after: string | null }
);

const TYPES = new Set<unknown>(["saved", "live", "wake", "config", "list"] satisfies Envelope["type"][]);

export const WAKE_TOPIC = "parley:{workers}:wake";

/** What was set up anew; one topic for all of it, since it changes rarely. */
export const SETUP_TOPIC = "parley:{setup}:news";

/** Braces keep a chat's topic and keys together on one shard of a cluster. */
export function newsTopic(chatId: string): string {
  return `parley:{${chatId}}:news`;
}

export function piecesKey(chatId: string, { historyVersion, attempt }: Generation): string {
  return `parley:{${chatId}}:pieces:${historyVersion}.${attempt}`;
}

/** What happens in one person's list of chats. */
export function listTopic(ownerId: string): string {
  return `parley:{owner:${ownerId}}:news`;
}

export function listKey(ownerId: string): string {
  return `parley:{owner:${ownerId}}:log`;
}

/** The ranks of the newest news, by what it is about. */
export function listRanksKey(ownerId: string): string {
  return `parley:{owner:${ownerId}}:ranks`;
}

/** Null when the text was not written by a Parley that speaks as we do. */
export function readEnvelope(text: string): Envelope | null {
  try {
    const envelope = JSON.parse(text) as Partial<Envelope> | null;
    const isKnown = TYPES.has(envelope?.type) && typeof envelope?.origin === "string";
    return isKnown ? (envelope as Envelope) : null;
  } catch {
    return null;
  }
}
