// Messages to a push service over the wire: what it can check of them, and what its answers mean.
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../src/lib/clock.js";
import { OutboundFetch } from "../../src/lib/outbound/outbound-fetch.js";
import { generatePushKeys, PushSender, retryAfterMs } from "../../src/adapters/web-push.js";
import { startPushService } from "../support/network/push-service.js";

const NOW = Date.UTC(2026, 0, 1);
const message = {
  title: "Broken build",
  body: "Mended.",
  tag: "chat_00000000-0000-4000-8000-000000000001",
  data: { chatId: "chat_00000000-0000-4000-8000-000000000001", kind: "FINISHED" as const },
};
const voice = { keys: generatePushKeys(), contact: "mailto:ops@example.com" };
let service: Awaited<ReturnType<typeof startPushService>>;
const outbound = new OutboundFetch(systemClock);
const sender = new PushSender({ outbound, isPrivateAllowed: true, now: () => NOW });
beforeAll(async () => {
  service = await startPushService();
});
afterAll(async () => {
  await outbound.close();
  await service.close();
});

test("a message is signed for the service, and opens for its browser alone", async () => {
  const address = service.subscribe("ann");
  expect(await sender.send(address, message, voice)).toEqual({ kind: "delivered" });
  expect(service.delivered).toEqual([
    {
      path: "/ann",
      message,
      ttl: "43200",
      urgency: "normal",
      // One waits for a sleeping browser, however many turns of the chat end.
      topic: "00000000000040008000000000000001",
      claims: {
        aud: new URL(address.endpoint).origin,
        sub: voice.contact,
        exp: expect.any(Number) as number,
      },
      senderKey: voice.keys.publicKey,
    },
  ]);
  const another = { ...address, auth: service.subscribe("another").auth };
  expect(await sender.send(another, message, voice)).toEqual({ kind: "refused", reason: "HTTP 403" });
});

test.each([
  [{ status: 404 }, { kind: "gone" }],
  [{ status: 410 }, { kind: "gone" }],
  [
    { status: 429, headers: { "retry-after": "7" } },
    { kind: "later", reason: "HTTP 429", retryAfterMs: 7_000 },
  ],
  [{ status: 503 }, { kind: "later", reason: "HTTP 503", retryAfterMs: null }],
  [{ status: 400 }, { kind: "refused", reason: "HTTP 400" }],
  [{ status: 413 }, { kind: "refused", reason: "HTTP 413" }],
])("an answer of %o", async (answer, outcome) => {
  const address = service.subscribe("answers");
  service.answer("answers", answer);
  expect(await sender.send(address, message, voice)).toEqual(outcome);
});

test("a redirect is not followed, and a service that is not there is asked later", async () => {
  const address = service.subscribe("moved");
  service.answer("moved", { status: 307, headers: { location: "/elsewhere" } });
  expect(await sender.send(address, message, voice)).toMatchObject({ kind: "later" });
  const nowhere = { ...address, endpoint: "http://127.0.0.1:1/x" };
  expect(await sender.send(nowhere, message, voice)).toMatchObject({ kind: "later" });
});

test("addresses within the own network are not reached unless that is allowed", async () => {
  const careful = new PushSender({ outbound, isPrivateAllowed: false, now: () => NOW });
  const asked = service.asked;
  const address = service.subscribe("inside");
  expect(await careful.send(address, message, voice)).toMatchObject({ kind: "later" });
  expect(service.asked).toBe(asked);
});

test.each([
  [null, null],
  ["12", 12_000],
  ["Thu, 01 Jan 2026 00:00:30 GMT", 30_000],
  ["Wed, 31 Dec 2025 00:00:00 GMT", 0],
  ["soon", null],
  ["-5", null],
])("retry-after: %s", (header, expected) => {
  expect(retryAfterMs(header, NOW)).toBe(expected);
});
