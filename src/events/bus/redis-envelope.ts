/** Redis wire format of the event bus: the names of topics and keys, and the envelope of what they carry. */
import type { Generation, LiveBatch } from "../../domain/chats/chat-events.js";
import type { ConfigTopic } from "../../domain/common/config-topic.js";
import type { ListUpdate } from "../../domain/chats/list-events.js";
import type { PublishedChange } from "./bus.js";
import {
  fromWireBatch,
  fromWireChange,
  fromWireUpdate,
  toWireBatch,
  toWireChange,
  toWireUpdate,
  type WireBatch,
  type WireChange,
  type WireUpdate,
} from "./wire-format.js";

/** `origin` identifies the sending process, so that it can skip its own messages. */
export type Envelope = { origin: string } & (
  | { type: "saved"; change: PublishedChange }
  | { type: "live"; batch: LiveBatch }
  | { type: "wake" }
  | { type: "config"; topic: ConfigTopic }
  /** `id` and `after` are filled in by the script that appends to the log. */
  | { type: "list"; ownerId: string; update: ListUpdate; id: string; after: string | null }
);

type WireEnvelope = { origin: string } & (
  | { type: "saved"; news: WireChange }
  | { type: "live"; batch: WireBatch }
  | { type: "wake" }
  | { type: "config"; topic: ConfigTopic }
  | { type: "list"; ownerId: string; news: WireUpdate; id: string; after: string | null }
);

const TYPES = new Set<unknown>(["saved", "live", "wake", "config", "list"] satisfies Envelope["type"][]);

export const WAKE_TOPIC = "parley:{workers}:wake";

/** Configuration changes; one topic for all kinds, since they are rare. */
export const CONFIG_CHANGES_TOPIC = "parley:{setup}:news";

/** Topic of one chat. The braces place a chat's topic and keys on the same shard of a cluster. */
export function chatTopic(chatId: string): string {
  return `parley:{${chatId}}:news`;
}

export function deltasKey(chatId: string, { historyVersion, attempt }: Generation): string {
  return `parley:{${chatId}}:pieces:${historyVersion}.${attempt}`;
}

/** Topic of one user's chat list. */
export function listTopic(ownerId: string): string {
  return `parley:{owner:${ownerId}}:news`;
}

export function listKey(ownerId: string): string {
  return `parley:{owner:${ownerId}}:log`;
}

/** Hash with the rank of the newest change of each subject. */
export function listRanksKey(ownerId: string): string {
  return `parley:{owner:${ownerId}}:ranks`;
}

export function writeEnvelope(envelope: Envelope): string {
  return JSON.stringify(toWire(envelope));
}

/** Null when the text is not an envelope that this version knows. */
export function readEnvelope(text: string): Envelope | null {
  try {
    const envelope = JSON.parse(text) as Partial<WireEnvelope> | null;
    const isKnown = TYPES.has(envelope?.type) && typeof envelope?.origin === "string";
    return isKnown ? fromWire(envelope as WireEnvelope) : null;
  } catch {
    return null;
  }
}

function toWire(envelope: Envelope): WireEnvelope {
  switch (envelope.type) {
    case "saved": {
      const { change, ...rest } = envelope;
      return { ...rest, news: toWireChange(change) };
    }
    case "live":
      return { ...envelope, batch: toWireBatch(envelope.batch) };
    case "list": {
      const { update, ...rest } = envelope;
      return { ...rest, news: toWireUpdate(update) };
    }
    case "wake":
    case "config":
      return envelope;
  }
}

function fromWire(envelope: WireEnvelope): Envelope {
  switch (envelope.type) {
    case "saved": {
      const { news, ...rest } = envelope;
      return { ...rest, change: fromWireChange(news) };
    }
    case "live":
      return { ...envelope, batch: fromWireBatch(envelope.batch) };
    case "list": {
      const { news, ...rest } = envelope;
      return { ...rest, update: fromWireUpdate(news) };
    }
    case "wake":
    case "config":
      return envelope;
  }
}
