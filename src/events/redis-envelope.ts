/** News on its way through Redis: the names of topics and keys, and the form of what they carry. */
import type { Generation, LiveBatch, SavedNews } from "../domain/chat-events.js";

/** `origin` names the process that sent it, so that it can pass over its own. */
export type Envelope = { origin: string } & (
  { type: "saved"; news: SavedNews } | { type: "live"; batch: LiveBatch } | { type: "wake" }
);

export const WAKE_TOPIC = "parley:{workers}:wake";

/** Braces keep a chat's topic and keys together on one shard of a cluster. */
export function newsTopic(chatId: string): string {
  return `parley:{${chatId}}:news`;
}

export function piecesKey(chatId: string, { historyVersion, attempt }: Generation): string {
  return `parley:{${chatId}}:pieces:${historyVersion}.${attempt}`;
}

/** Null when the text was not written by a Parley that speaks as we do. */
export function readEnvelope(text: string): Envelope | null {
  try {
    const envelope = JSON.parse(text) as Partial<Envelope> | null;
    const isKnown = envelope?.type === "saved" || envelope?.type === "live" || envelope?.type === "wake";
    return isKnown && typeof envelope.origin === "string" ? (envelope as Envelope) : null;
  } catch {
    return null;
  }
}
