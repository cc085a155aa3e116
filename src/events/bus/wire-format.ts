/**
 * Wire format of events in Redis. Its field names are those of the first release, so that replicas of different versions
 * understand each other, and the logs that an earlier version has written stay readable.
 */
import type { LiveBatch, LiveDelta, MessageDelta } from "../../domain/chats/chat-events.js";
import type { ListUpdate } from "../../domain/chats/list-events.js";
import type { LastDelta, PublishedChange } from "./bus.js";

export type WireDelta = Omit<LiveDelta, "delta"> & { piece: MessageDelta };
export type WireBatch = Omit<LiveBatch, "deltas"> & { pieces: WireDelta[] };
export type WireChange = Omit<PublishedChange, "lastDelta"> & { lastPiece?: LastDelta | null };
export type WireUpdate = Omit<ListUpdate, "checksumDelta" | "subject"> & { weight: number; about: string };

// Deltas are many: without rest patterns, whose objects take ten times as long to make.
export function toWireDelta({ sequence, role, partIndex, delta }: LiveDelta): WireDelta {
  return { sequence, role, partIndex, piece: delta };
}

export function fromWireDelta({ sequence, role, partIndex, piece }: WireDelta): LiveDelta {
  return { sequence, role, partIndex, delta: piece };
}

export function toWireBatch({ chatId, generation, deltas }: LiveBatch): WireBatch {
  return { chatId, generation, pieces: deltas.map(toWireDelta) };
}

export function fromWireBatch({ chatId, generation, pieces }: WireBatch): LiveBatch {
  return { chatId, generation, deltas: pieces.map(fromWireDelta) };
}

export function toWireChange({ lastDelta, ...rest }: PublishedChange): WireChange {
  return lastDelta === undefined ? rest : { ...rest, lastPiece: lastDelta };
}

export function fromWireChange({ lastPiece, ...rest }: WireChange): PublishedChange {
  return lastPiece === undefined ? rest : { ...rest, lastDelta: lastPiece };
}

export function toWireUpdate({ checksumDelta, subject, ...rest }: ListUpdate): WireUpdate {
  return { ...rest, weight: checksumDelta, about: subject };
}

export function fromWireUpdate({ weight, about, ...rest }: WireUpdate): ListUpdate {
  return { ...rest, checksumDelta: weight, subject: about };
}
