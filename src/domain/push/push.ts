/** Notifications of Web Push: what a subscription must be, and what it says of a settled turn. Pure. */
import type { ChatFailure } from "../common/failures.js";
import type { MessagePart } from "../chats/message-parts.js";

/** More browsers than anybody has; a new one takes the place of the oldest. */
export const MAX_PUSH_SUBSCRIPTIONS = 20;
const MAX_ENDPOINT_CHARACTERS = 2_048;
/** An uncompressed point of P-256 (RFC 8291). */
const PUBLIC_KEY_BYTES = 65;
const UNCOMPRESSED_POINT = 0x04;
/** RFC 8291, 3.2. */
const AUTH_SECRET_BYTES = 16;
const BASE64URL = /^[A-Za-z0-9_-]+={0,2}$/;
/** What a lock screen shows of a notification; also keeps the whole well within a push message's 4 kB. */
const MAX_BODY_CHARACTERS = 180;
const MAX_TITLE_CHARACTERS = 120;

export type PushSubscriptionFields = { endpoint: string; p256dh: string; auth: string };
/** `userAgent`: what the browser calls itself; null when it does not say. */
export type PushRegistration = PushSubscriptionFields & { userAgent: string | null };
type Problem = { field: keyof PushSubscriptionFields; message: string };

/**
 * What is wrong with a browser's subscription, at most one thing a field. `isPrivateAllowed`: push services within the
 * own network may be used, without encryption too.
 */
export function subscriptionProblems(
  { endpoint, p256dh, auth }: PushSubscriptionFields,
  { isPrivateAllowed }: { isPrivateAllowed: boolean },
): Problem[] {
  const mistakes: Problem[] = [];
  const protocols = isPrivateAllowed ? ["https:", "http:"] : ["https:"];
  if (endpoint.length > MAX_ENDPOINT_CHARACTERS) {
    mistakes.push({
      field: "endpoint",
      message: `An endpoint has at most ${MAX_ENDPOINT_CHARACTERS} characters.`,
    });
  } else if (!URL.canParse(endpoint) || !protocols.includes(new URL(endpoint).protocol)) {
    mistakes.push({ field: "endpoint", message: "The endpoint must be an https address." });
  }
  const point = bytesOf(p256dh);
  if (point?.length !== PUBLIC_KEY_BYTES || point[0] !== UNCOMPRESSED_POINT)
    mistakes.push({ field: "p256dh", message: "p256dh must be the 65 bytes of a P-256 key, in base64url." });
  if (bytesOf(auth)?.length !== AUTH_SECRET_BYTES)
    mistakes.push({ field: "auth", message: "auth must be 16 bytes, in base64url." });
  return mistakes;
}

function bytesOf(text: string): Uint8Array | null {
  return BASE64URL.test(text) ? Buffer.from(text, "base64url") : null;
}

/** What became of a message to one browser. `retryAfterMs` null: its service did not say when. */
export type PushOutcome =
  | { kind: "delivered" }
  /** The browser has withdrawn, or was never there: it will not come back under this address. */
  | { kind: "gone" }
  | { kind: "later"; reason: string; retryAfterMs: number | null }
  | { kind: "refused"; reason: string };

/** Why a turn has settled. */
export type SettledTurn =
  /** `parts` of the turn's last answer; none when it has none. */
  | { kind: "finished"; parts: readonly MessagePart[] }
  | { kind: "failed"; failure: ChatFailure }
  /** The chat's client is to answer these. */
  | { kind: "needs-client"; toolNames: readonly string[] };

/** What a browser's service worker gets, as JSON. */
export type PushMessage = {
  /** Of the chat. */
  title: string;
  body: string;
  /** Notifications of one chat replace each other. */
  tag: string;
  data: { chatId: string; kind: "FINISHED" | "FAILED" | "NEEDS_CLIENT" };
};

/** `chatId`: the public one. */
export function pushMessageOf(chat: { chatId: string; title: string }, turn: SettledTurn): PushMessage {
  const kind = KINDS[turn.kind];
  const { chatId } = chat;
  return {
    title: shortened(chat.title, MAX_TITLE_CHARACTERS) || "Chat",
    body: shortened(bodyOf(turn), MAX_BODY_CHARACTERS),
    tag: chatId,
    data: { chatId, kind },
  };
}

const KINDS = { finished: "FINISHED", failed: "FAILED", "needs-client": "NEEDS_CLIENT" } as const;

function bodyOf(turn: SettledTurn): string {
  switch (turn.kind) {
    case "finished":
      return wordsOf(turn.parts) || "The turn has finished.";
    case "failed":
      return turn.failure.message;
    case "needs-client":
      return `Waits for an answer to ${[...new Set(turn.toolNames)].join(", ")}.`;
  }
}

/** The last words count: what a model says first is often what it is about to do. */
function wordsOf(parts: readonly MessagePart[]): string {
  const texts = parts.flatMap((part) => (part.type === "text" && part.text.trim() !== "" ? [part.text] : []));
  return texts.at(-1) ?? "";
}

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** On one line, cut between characters as people see them. */
function shortened(text: string, limit: number): string {
  const line = text
    .slice(0, limit * 40)
    .replace(/\s+/g, " ")
    .trim();
  if (line.length <= limit) return line;
  let kept = "";
  for (const { segment } of graphemes.segment(line)) {
    if (kept.length + segment.length > limit - 1) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}
