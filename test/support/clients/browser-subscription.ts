// Push subscription as a browser creates it.
import { createECDH, randomBytes, randomUUID } from "node:crypto";

export function browserKeys() {
  const ecdh = createECDH("prime256v1");
  const p256dh = ecdh.generateKeys("base64url");
  return { ecdh, p256dh, auth: randomBytes(16).toString("base64url") };
}

/** A subscription at a push service that is never called. */
export function browser() {
  const { p256dh, auth } = browserKeys();
  return { endpoint: `https://push.example/${randomUUID()}`, p256dh, auth };
}
