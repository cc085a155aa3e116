/** Sends messages by Web Push (RFC 8030), encrypted (RFC 8291) and signed with VAPID keys (RFC 8292). */
import webPush from "web-push";
import type { PushMessage, PushOutcome } from "../domain/push/push.js";
import { errorText } from "../lib/text/error-text.js";
import { readRetryAfter } from "../lib/retry-after.js";
import type { OutboundFetch } from "../lib/outbound/outbound-fetch.js";

/** A browser that was offline for longer gets no notification: it would be outdated. */
const TTL_SECONDS = 12 * 60 * 60;
const TIMEOUT_MS = 10_000;
/** Bound of the response's body, which is not used. */
const MAX_ANSWER_BYTES = 64 * 1024;
/** RFC 8030: at most 32 characters of base64url. A public id has dashes and underscores, and four characters more. */
const MAX_TOPIC_CHARACTERS = 32;

/** A browser's subscription; `auth` in plain text. */
export type PushAddress = { endpoint: string; p256dh: string; auth: string };

export type PushSenderIdentity = {
  keys: { publicKey: string; privateKey: string };
  /** How operators of push services reach this deployment's: `mailto:…` or `https://…`. */
  contact: string;
};

export type PushSenderOptions = {
  outbound: OutboundFetch;
  /** Also send to push services in private networks. */
  isPrivateAllowed: boolean;
  now: () => number;
};

export function generatePushKeys(): { publicKey: string; privateKey: string } {
  return webPush.generateVAPIDKeys();
}

export class PushSender {
  constructor(private readonly options: PushSenderOptions) {}

  /** Never rejects. Reasons name only the service's host, since the whole address is a capability. */
  async send(address: PushAddress, message: PushMessage, voice: PushSenderIdentity): Promise<PushOutcome> {
    const { outbound, isPrivateAllowed } = this.options;
    try {
      const { endpoint, headers, body } = requestOf(address, message, voice);
      const send = outbound.for({ isPrivateAllowed, timeoutMs: TIMEOUT_MS, maxBodyBytes: MAX_ANSWER_BYTES });
      const response = await send(endpoint, { method: "POST", headers, body, redirect: "error" });
      await response.body?.cancel();
      return this.#outcomeOf(response);
    } catch (error) {
      return { kind: "later", reason: errorText(error), retryAfterMs: null };
    }
  }

  #outcomeOf({ status, headers }: Response): PushOutcome {
    const reason = `HTTP ${status}`;
    if (status >= 200 && status < 300) return { kind: "delivered" };
    if (status === 404 || status === 410) return { kind: "gone" };
    if (status === 429 || status >= 500)
      return {
        kind: "later",
        reason,
        retryAfterMs: retryAfterMs(headers.get("retry-after"), this.options.now()),
      };
    return { kind: "refused", reason };
  }
}

function requestOf({ endpoint, p256dh, auth }: PushAddress, message: PushMessage, voice: PushSenderIdentity) {
  const { keys, contact: subject } = voice;
  const subscription = { endpoint, keys: { p256dh, auth } };
  const details = webPush.generateRequestDetails(subscription, JSON.stringify(message), {
    vapidDetails: { subject, ...keys },
    TTL: TTL_SECONDS,
    contentEncoding: "aes128gcm",
    urgency: "normal",
    // A newer message of the same chat replaces an undelivered one.
    topic: message.tag.replaceAll("-", "").slice(-MAX_TOPIC_CHARACTERS),
  });
  const headers = Object.entries(details.headers as Record<string, string | number>);
  return {
    endpoint: details.endpoint,
    headers: headers.map(([name, value]): [string, string] => [name, String(value)]),
    body: new Uint8Array(details.body),
  };
}

/** Null when the header is absent or invalid; a date in the past means now. */
export function retryAfterMs(header: string | null, now: number): number | null {
  const wait = readRetryAfter(header, now);
  return wait === undefined ? null : Math.max(0, wait);
}
