// What a browser gives to whoever may send it push messages.
import { createECDH, randomBytes, randomUUID } from "node:crypto";

export function browserKeys() {
  const ecdh = createECDH("prime256v1");
  const p256dh = ecdh.generateKeys("base64url");
  return { ecdh, p256dh, auth: randomBytes(16).toString("base64url") };
}

/** A browser's subscription at a push service that is never asked. */
export function browser() {
  const { p256dh, auth } = browserKeys();
  return { endpoint: `https://push.example/${randomUUID()}`, p256dh, auth };
}
