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

export function toWireDelta({ delta, ...rest }: LiveDelta): WireDelta {
  return { ...rest, piece: delta };
}

export function fromWireDelta({ piece, ...rest }: WireDelta): LiveDelta {
  return { ...rest, delta: piece };
}

export function toWireBatch({ deltas, ...rest }: LiveBatch): WireBatch {
  return { ...rest, pieces: deltas.map(toWireDelta) };
}

export function fromWireBatch({ pieces, ...rest }: WireBatch): LiveBatch {
  return { ...rest, deltas: pieces.map(fromWireDelta) };
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
