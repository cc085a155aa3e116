/**
 * Codecs of all opaque cursors: positions in event streams and ends of pages. A cursor is base64url of a versioned text;
 * one that cannot be decoded is `null`, never an exception.
 */
import type { Generation, Position } from "../chats/chat-events.js";
import { generationId, parseGenerationId } from "../chats/chat-events.js";
import type { ListCursor } from "../chats/list-events.js";

/** A reader's progress: saved events up to `position`, and deltas of `generation` up to `sequence`. */
export type EventCursor = { position: Position; generation: Generation | null; sequence: number };

/** Longer than any cursor of ours; longer text is refused before it is decoded. */
const MAX_CURSOR_CHARACTERS = 512;

export function encodeEventCursor(cursor: EventCursor): string {
  const { version, stage, messageId } = cursor.position;
  const generation = cursor.generation ? generationId(cursor.generation) : "";
  return encode(`v1|${version}|${stage}|${messageId}|${generation}|${cursor.sequence}`);
}

export function decodeEventCursor(text: string): EventCursor | null {
  const fields = decode(text)?.split("|");
  if (fields?.length !== 6 || fields[0] !== "v1") return null;
  const [version, stage, messageId, sequence] = [fields[1], fields[2], fields[3], fields[5]].map(wholeNumber);
  if (version == null || stage == null || messageId == null || sequence == null) return null;
  const generation = fields[4] ? parseGenerationId(fields[4]) : null;
  if (fields[4] && generation === null) return null;
  return { position: { version, stage, messageId }, generation, sequence };
}

/** A list reader's position in its log and its checksum; `id` null = no position. */
export function encodeListCursor(id: string | null, checksum: number): string {
  return encode(`l1|${id ?? ""}|${checksum}`);
}

export function decodeListCursor(text: string): ListCursor | null {
  const fields = decode(text)?.split("|");
  if (fields?.length !== 3 || fields[0] !== "l1") return null;
  const [, id = "", checksum = ""] = fields;
  if (!/^\d{1,15}-\d{1,15}$/.test(id) || !/^-?\d{1,16}$/.test(checksum)) return null;
  return { id, checksum: Number(checksum) };
}

/** A keyset page cursor: the sort key and the id of a row, with the name of the order. */
export function encodePageCursor(order: string, key: string, id: string): string {
  return encode(`p1|${order}|${key}|${id}`);
}

/** Null when the text is not a cursor of that order. */
export function decodePageCursor(order: string, text: string): { key: string; id: string } | null {
  const fields = decode(text)?.split("|");
  if (fields?.length !== 4 || fields[0] !== "p1" || fields[1] !== order) return null;
  const [, , key, id] = fields;
  return key !== undefined && id !== undefined ? { key, id } : null;
}

function encode(text: string): string {
  return Buffer.from(text, "utf8").toString("base64url");
}

function decode(text: string): string | null {
  if (text.length > MAX_CURSOR_CHARACTERS || !/^[A-Za-z0-9_-]+$/.test(text)) return null;
  return Buffer.from(text, "base64url").toString("utf8");
}

function wholeNumber(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
}
