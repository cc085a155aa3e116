/** Notifications of Web Push: what a subscription must be, and what it says of a settled turn. Pure. */
import type { ChatFailure } from "../common/failures.js";
import type { MessagePart } from "../chats/message-parts.js";

/** Subscriptions per user; a new one replaces the oldest. */
export const MAX_PUSH_SUBSCRIPTIONS = 20;
const MAX_ENDPOINT_CHARACTERS = 2_048;
/** An uncompressed point of P-256 (RFC 8291). */
const PUBLIC_KEY_BYTES = 65;
const UNCOMPRESSED_POINT = 0x04;
/** RFC 8291, 3.2. */
const AUTH_SECRET_BYTES = 16;
const BASE64URL = /^[A-Za-z0-9_-]+={0,2}$/;
/** As much as a lock screen shows; also keeps the payload well within a push message's 4 kB. */
const MAX_BODY_CHARACTERS = 180;
const MAX_TITLE_CHARACTERS = 120;

export type PushSubscriptionFields = { endpoint: string; p256dh: string; auth: string };
/** `userAgent`: the browser's `User-Agent`; null when it sends none. */
export type PushRegistration = PushSubscriptionFields & { userAgent: string | null };
type Problem = { field: keyof PushSubscriptionFields; message: string };

/**
 * The problems of a browser's subscription, at most one per field. `isPrivateAllowed`: push services in private networks
 * are allowed, also without TLS.
 */
export function subscriptionProblems(
  { endpoint, p256dh, auth }: PushSubscriptionFields,
  { isPrivateAllowed }: { isPrivateAllowed: boolean },
): Problem[] {
  const problems: Problem[] = [];
  const protocols = isPrivateAllowed ? ["https:", "http:"] : ["https:"];
  if (endpoint.length > MAX_ENDPOINT_CHARACTERS) {
    problems.push({
      field: "endpoint",
      message: `An endpoint may have at most ${MAX_ENDPOINT_CHARACTERS} characters.`,
    });
  } else if (!URL.canParse(endpoint) || !protocols.includes(new URL(endpoint).protocol)) {
    problems.push({ field: "endpoint", message: "The endpoint must be an https address." });
  }
  const point = bytesOf(p256dh);
  if (point?.length !== PUBLIC_KEY_BYTES || point[0] !== UNCOMPRESSED_POINT)
    problems.push({ field: "p256dh", message: "p256dh must be the 65 bytes of a P-256 key, in base64url." });
  if (bytesOf(auth)?.length !== AUTH_SECRET_BYTES)
    problems.push({ field: "auth", message: "auth must be 16 bytes, in base64url." });
  return problems;
}

function bytesOf(text: string): Uint8Array | null {
  return BASE64URL.test(text) ? Buffer.from(text, "base64url") : null;
}

/** Outcome of sending a message to one browser. `retryAfterMs` null: the push service gave no time. */
export type PushOutcome =
  | { kind: "delivered" }
  /** The subscription has ended or never existed; its address will not become valid again. */
  | { kind: "gone" }
  | { kind: "later"; reason: string; retryAfterMs: number | null }
  | { kind: "refused"; reason: string };

/** Why a turn has settled. */
export type SettledTurn =
  /** `parts` of the turn's last answer; empty when there is none. */
  | { kind: "finished"; parts: readonly MessagePart[] }
  | { kind: "failed"; failure: ChatFailure }
  /** The client must answer calls of these tools. */
  | { kind: "needs-client"; toolNames: readonly string[] };

/** The payload for a browser's service worker, as JSON. */
export type PushMessage = {
  /** The chat's title. */
  title: string;
  body: string;
  /** Notifications with the same tag replace each other: one per chat. */
  tag: string;
  data: { chatId: string; kind: "FINISHED" | "FAILED" | "NEEDS_CLIENT" };
};

/** The message for a settled turn. `chatId` is the public id. */
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
      return lastText(turn.parts) || "The turn has finished.";
    case "failed":
      return turn.failure.message;
    case "needs-client":
      return `Waits for an answer to ${[...new Set(turn.toolNames)].join(", ")}.`;
  }
}

/** The last text part: the first is often only what the model is about to do. */
function lastText(parts: readonly MessagePart[]): string {
  const texts = parts.flatMap((part) => (part.type === "text" && part.text.trim() !== "" ? [part.text] : []));
  return texts.at(-1) ?? "";
}

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** The text on one line, truncated between graphemes. */
function shortened(text: string, limit: number): string {
  const line = text
    .slice(0, limit * 40)
    .replace(/\s+/g, " ")
    .trim();
  if (line.length <= limit) return line;
  let result = "";
  for (const { segment } of graphemes.segment(line)) {
    if (result.length + segment.length > limit - 1) break;
    result += segment;
  }
  return `${result.trimEnd()}…`;
}
