// Subscribers of one chat share the executions of its events if they can see the same.
import { type Client, createClient } from "graphql-ws";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { ApiClient } from "../../support/clients/api-client.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";

let environment: TestEnvironment;
let parley: TestParley;
const clients: Client[] = [];
beforeAll(async () => {
  environment = await createTestEnvironment();
  parley = await environment.start();
  // The demo model does not use this URL, which only admins can read.
  await parley.parley.database.dataSource.query(
    "UPDATE model_providers SET base_url = 'https://secret.example/'",
  );
});
afterAll(async () => {
  for (const client of clients) await client.dispose();
  await environment.remove();
});

const FOLLOW = `subscription ($chatId: ID!, $after: String) { chatEvents(chatId: $chatId, after: $after) {
  __typename ... on StreamEvent { cursor }
  ... on ChatPartEvent { sequence delta { ... on TextDelta { append } } }
  ... on ChatStatusEvent { status chat { title owner { username } modelConfig { provider { baseUrl } } } }
  ... on ChatMessageEvent { message { role parts { ... on TextPart { text } } modelConfig { provider { baseUrl } } } } } }`;

type ReceivedEvent = { __typename: string; cursor: string; status?: string };

/** All events until the chat is idle. */
async function followTurn(api: ApiClient, chatId: string, after: string) {
  const client = createClient({
    url: `${api.url.replace("http", "ws")}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { token: api.token },
    retryAttempts: 0,
  });
  clients.push(client);
  const stream = client.iterate<{ chatEvents: ReceivedEvent }>({
    query: FOLLOW,
    variables: { chatId, after },
  });
  const events: ReceivedEvent[] = [];
  let isLive = () => undefined as void;
  const live = new Promise<void>((resolve) => (isLive = resolve));
  const rested = (async () => {
    for await (const { data } of stream) {
      if (!data) throw new Error("An event had no data.");
      events.push(data.chatEvents);
      if (data.chatEvents.__typename === "ChatCaughtUpEvent") isLive();
      if (data.chatEvents.status === "WAITING") return events;
    }
    throw new Error("The stream ended.");
  })();
  await Promise.race([live, rested]);
  return { rested };
}

test("two windows of the owner receive the same, and an admin also receives admin-only fields", async () => {
  const [owner, admin] = [await parley.addUser("owner"), await parley.addUser("boss", "admin")];
  const { chatId, follower } = await owner.quietChat();
  await follower.close();
  const { eventCursor } = (
    await owner.get<{ chat: { eventCursor: string } }>("query ($id: ID!) { chat(id: $id) { eventCursor } }", {
      id: chatId,
    })
  ).chat;
  const followers = [];
  for (const api of [owner, admin, owner]) followers.push(await followTurn(api, chatId, eventCursor));
  await owner.send(chatId, "[[demo: deltas=20 delay=5]]");
  const [first, seenByAdmin, second] = await Promise.all(followers.map(({ rested }) => rested));
  expect(second).toEqual(first);
  const written = JSON.stringify(first);
  expect(written).not.toContain("secret");
  expect(JSON.stringify(seenByAdmin)).toContain('"baseUrl":"https://secret.example/"');
  expect(JSON.stringify(seenByAdmin).replaceAll('"https://secret.example/"', "null")).toBe(written);
  expect(first?.filter(({ __typename }) => __typename === "ChatPartEvent").length).toBeGreaterThan(1);
});
