// Push notifications: browsers registered through the API, notified by real servers over a real push service's
// protocol.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";
import { browser } from "../../support/clients/browser-subscription.js";
import { startPushService } from "../../support/network/push-service.js";

let environment: TestEnvironment;
let server: TestParley;
let service: Awaited<ReturnType<typeof startPushService>>;
beforeAll(async () => {
  [environment, service] = await Promise.all([createTestEnvironment(), startPushService()]);
  server = await environment.start({
    PARLEY_PUSH_PRIVATE_NETWORK: "on",
    PARLEY_PUSH_CONTACT: "mailto:ops@example.com",
  });
});
afterAll(async () => {
  await environment.remove();
  await service.close();
});

type Client = TestParley["api"];
const register = (api: Client, input: object) =>
  api.change<{ subscription: { id: string; endpoint: string } | null; userErrors: { path: string[] }[] }>(
    "registerPushSubscription",
    input,
    "subscription { id endpoint userAgent }",
  );
async function browsersOf(api: Client): Promise<string[]> {
  type Shown = { viewer: { pushSubscriptions: { endpoint: string }[] } };
  const { viewer } = await api.get<Shown>("{ viewer { pushSubscriptions { endpoint } } }");
  return viewer.pushSubscriptions.map(({ endpoint }) => endpoint);
}
const sentTo = (name: string) =>
  service.delivered.filter(({ path }) => path === `/${name}`).map(({ message }) => message);

test("a turn that ends or fails without a subscriber causes a push message to its owner", async () => {
  const ann = await server.addUser("ann");
  await register(ann, { ...service.subscribe("ann"), userAgent: "Firefox" });
  const finished = await ann.createChat("[[demo: deltas=3]]");
  const failed = await ann.createChat("[[demo: error=401]]");
  await service.until(() => sentTo("ann").length === 2);
  expect(Object.fromEntries(sentTo("ann").map(({ tag, body, data }) => [tag, { body, data }]))).toEqual({
    [finished]: { body: "word1 word2 word3", data: { chatId: finished, kind: "FINISHED" } },
    [failed]: { body: expect.any(String) as string, data: { chatId: failed, kind: "FAILED" } },
  });
  const [first] = service.delivered;
  type Shown = { deployment: { pushPublicKey: string } };
  const { deployment } = await ann.get<Shown>("{ deployment { pushPublicKey } }");
  expect([first?.senderKey, first?.claims["sub"]]).toEqual([
    deployment.pushPublicKey,
    "mailto:ops@example.com",
  ]);
});

test("users who follow the chat or interrupted the turn get no push message", async () => {
  const ben = await server.addUser("ben");
  await register(ben, service.subscribe("ben"));
  const { chatId, follower } = await ben.quietChat();
  await ben.send(chatId, "[[demo: deltas=2]]");
  await follower.until(({ status, messages }) => status === "WAITING" && messages.length === 4);
  const stopped = await ben.createChat("[[demo: deltas=500 delay=20]]");
  const stopping = ben.follow(stopped);
  await stopping.until(({ preview }) => preview !== null);
  await stopping.close();
  await ben.change("interruptChat", { chatId: stopped }, "chat { id }");
  // Notifications are sent in order, so a later turn's notification proves that these were not sent.
  const unseen = await ben.createChat("[[demo: deltas=1]]");
  await service.until(() => sentTo("ben").length > 0);
  expect(sentTo("ben").map(({ tag }) => tag)).not.toContain(chatId);
  expect(sentTo("ben").map(({ tag }) => tag)).not.toContain(stopped);
  expect(sentTo("ben").map(({ tag }) => tag)).toContain(unseen);
  await follower.close();
});

test("an expired push subscription is deleted", async () => {
  const eve = await server.addUser("eve");
  const [gone, back] = [service.subscribe("gone"), service.subscribe("back")];
  await register(eve, gone);
  await register(eve, back);
  service.answer("gone", { status: 410 });
  await eve.createChat("[[demo: deltas=1]]");
  await service.until(() => sentTo("back").length === 1);
  await expect.poll(() => browsersOf(eve)).toEqual([back.endpoint]);
});

test("an invalid push subscription is refused with its field, and nothing is stored", async () => {
  const joe = await server.addUser("joe");
  const made = await register(joe, {
    endpoint: `https://push.example/${"x".repeat(2_048)}`,
    p256dh: "AAAA",
    auth: "AAAA",
  });
  expect([made.subscription, made.userErrors.map(({ path }) => path), await browsersOf(joe)]).toEqual([
    null,
    [["endpoint"], ["p256dh"], ["auth"]],
    [],
  ]);
  const gone = await joe.change<{ deletedId: null; userErrors: object[] }>(
    "unregisterPushSubscription",
    { endpoint: "https://push.example/none" },
    "deletedId",
  );
  expect(gone).toMatchObject({ deletedId: null, userErrors: [{ code: "NOT_FOUND", path: ["endpoint"] }] });
});

test("a browser belongs to the last user who registered it, and a user has at most twenty", async () => {
  const [kim, lee] = [await server.addUser("kim"), await server.addUser("lee")];
  const shared = browser();
  const first = await register(kim, shared);
  const second = await register(lee, shared);
  expect(second.subscription?.id).not.toBe(first.subscription?.id);
  expect([await browsersOf(kim), await browsersOf(lee)]).toEqual([[], [shared.endpoint]]);
  const many = Array.from({ length: 22 }, browser);
  for (const each of many) await register(kim, each);
  expect(await browsersOf(kim)).toEqual(many.slice(2).map(({ endpoint }) => endpoint));
  await kim.change("unregisterPushSubscription", { endpoint: many[21]?.endpoint }, "deletedId");
  expect(await browsersOf(kim)).toEqual(many.slice(2, 21).map(({ endpoint }) => endpoint));
});
