// Subscriptions over Server-Sent Events from the real server: the same events, cursors and rights as over a WebSocket.
import { createClient } from "graphql-sse";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ChatEvent, CHAT_EVENTS_DOCUMENT, Transcript } from "../../support/clients/transcript.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";
import { StreamFollower } from "../../support/clients/stream-follower.js";

let environment: TestEnvironment;
let server: TestParley;
beforeEach(async () => {
  environment = await createTestEnvironment();
  server = await environment.start();
});
afterEach(() => environment.remove());

describe("a turn followed over an event stream", () => {
  test("arrives completely, with its deltas", async () => {
    const { chatId, follower } = await server.api.quietChat();
    const stream = await StreamFollower.open(server.api, chatId);
    await stream.until(({ isCaughtUp }) => isCaughtUp);
    await server.api.send(chatId, "[[demo: deltas=20 delay=5]]");
    await stream.until(({ status, messages }) => status === "WAITING" && messages.length === 4);
    await follower.until(({ status, messages }) => status === "WAITING" && messages.length === 4);
    const shown = (await server.api.chat(chatId))?.messages.nodes;
    const { messages, breaches, confirmedPreviews } = stream.transcript;
    expect({ messages, breaches, isPreviewed: confirmedPreviews > 0 }).toEqual({
      messages: shown,
      breaches: [],
      isPreviewed: true,
    });
    expect(follower.transcript.messages).toEqual(shown);
    stream.stream.leave();
    await follower.close();
  });

  test("resumes from the cursor after each of many disconnects, without gaps or duplicates", async () => {
    const { chatId, follower } = await server.api.quietChat();
    let stream = await StreamFollower.open(
      server.api,
      chatId,
      Transcript.from((await server.api.chat(chatId))!),
    );
    await stream.until(({ isCaughtUp }) => isCaughtUp);
    await server.api.send(chatId, "[[demo: deltas=40 delay=10]]");
    let breaks = 0;
    for (let isDone = false; !isDone;) {
      const { transcript } = stream;
      const { length } = transcript.log;
      const isOver = () => transcript.status === "WAITING" && transcript.messages.length === 4;
      await stream.until(() => isOver() || transcript.log.length >= length + 5);
      isDone = isOver();
      stream.stream.leave();
      if (!isDone) stream = await StreamFollower.open(server.api, chatId, transcript);
      breaks += 1;
    }
    const shown = (await server.api.chat(chatId))?.messages.nodes;
    expect(breaks).toBeGreaterThan(3);
    expect([stream.transcript.messages, stream.transcript.breaches]).toEqual([shown, []]);
    await follower.close();
  });

  test("works with graphql-sse's own client", async () => {
    const chatId = await server.api.createChat("[[demo: deltas=5]]");
    const client = createClient({
      url: `${server.api.url}/graphql/stream`,
      headers: { authorization: `Bearer ${server.api.token}` },
    });
    const transcript = new Transcript(null);
    const variables = { chatId, after: null };
    for await (const { data } of client.iterate<{ chatEvents: ChatEvent }>({
      query: CHAT_EVENTS_DOCUMENT,
      variables,
    })) {
      if (data) transcript.apply(data.chatEvents);
      if (transcript.isCaughtUp && transcript.status === "WAITING") break;
    }
    const shown = (await server.api.chat(chatId))?.messages.nodes;
    expect([transcript.messages, transcript.breaches]).toEqual([shown, []]);
    client.dispose();
  });
});

describe("rights", () => {
  test("another user's chat is refused", async () => {
    const { chatId, follower } = await server.api.quietChat();
    const stranger = await server.addUser("eve");
    const stream = await StreamFollower.open(stranger, chatId);
    await stream.untilEnd();
    expect([stream.errors, stream.transcript.log]).toEqual([["FORBIDDEN"], []]);
    await follower.close();
  });

  test("at shutdown the stream ends without completing, and its cursor is valid on the next server", async () => {
    const { chatId, follower } = await server.api.quietChat();
    await follower.close();
    const stream = await StreamFollower.open(server.api, chatId);
    await stream.until(({ isCaughtUp }) => isCaughtUp);
    await Promise.all([server.close(), stream.untilEnd()]);
    const next = await environment.start();
    await next.api.send(chatId, "[[demo: deltas=2]]");
    const back = await StreamFollower.open(next.api, chatId, stream.transcript);
    await back.until(({ status, messages }) => status === "WAITING" && messages.length === 4);
    expect([back.transcript.messages, back.transcript.breaches]).toEqual([
      (await next.api.chat(chatId))?.messages.nodes,
      [],
    ]);
    back.stream.leave();
  });
});
