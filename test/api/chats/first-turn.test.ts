import { afterAll, beforeAll, expect, test } from "vitest";
import type { Payload } from "../../support/clients/api-shapes.js";
import { textOf } from "../../support/clients/transcript.js";
import { createTestEnvironment, type TestEnvironment } from "../../support/parley.js";

let environment: TestEnvironment;
beforeAll(async () => {
  environment = await createTestEnvironment();
});
afterAll(() => environment.remove());

/** Collapses equal neighbours into one: the number of deltas of a text depends on the network. */
function withoutRepeats(names: string[]): string[] {
  return names.filter((name, index) => name !== names[index - 1]);
}

const STEP = [
  "part ASSISTANT TextDelta",
  "part ASSISTANT ToolInputDelta",
  "part ASSISTANT ToolCallPart",
  "message ASSISTANT",
  "part TOOL ToolResultPart",
  // Sent again, because its running time now includes its tools'.
  "message ASSISTANT",
  "message TOOL",
];

test("a turn with two tools is streamed in the documented order, and persists across a restart", async () => {
  const first = await environment.start();
  const { chatId, follower } = await first.api.quietChat({ workspaceId: first.workspaceId });
  const { transcript } = follower;
  const before = transcript.log.length;
  await first.api.send(chatId, "run `ls`, then read package.json");
  await follower.until(({ log }) => log.lastIndexOf("status WAITING") >= before);

  expect({ events: withoutRepeats(transcript.log.slice(before)), breaches: transcript.breaches }).toEqual({
    events: [
      ...["message USER", "status PENDING", "status RUNNING", ...STEP, ...STEP],
      ...["part ASSISTANT TextDelta", "message ASSISTANT", "status WAITING"],
    ],
    breaches: [],
  });
  const shown = await first.api.chat(chatId);
  expect(transcript.messages).toEqual(shown?.messages.nodes);
  const results = shown?.messages.nodes
    .filter(({ role }) => role === "TOOL")
    .map(({ parts }) => parts[0]?.result);
  expect(results).toMatchObject([
    { success: true, exit_code: 0, output: "README.md\npackage.json\nsrc\n" },
    { content: expect.stringContaining('"name": "greeter"') },
  ]);
  expect(transcript.messages.map(textOf).at(-1)).toContain("README.md\npackage.json\nsrc");
  await follower.close();
  await first.close();

  const second = await environment.start();
  expect(await second.api.chat(chatId)).toEqual(shown);
  const late = second.api.follow(chatId, transcript.cursor);
  await late.until(({ isCaughtUp }) => isCaughtUp);
  expect(late.transcript.log).toEqual(["caught-up"]);
  await late.close();
});

test("a new chat's cursor is its beginning: every event follows it once, without a snapshot", async () => {
  const server = await environment.start();
  const input = { parts: [{ text: { text: "hello" } }] };
  const { chat, eventCursor, userErrors } = await server.api.change<Payload & { eventCursor: string }>(
    "createChat",
    input,
    "chat { id status } eventCursor",
  );
  expect(userErrors).toEqual([]);
  const chatId = chat?.id ?? "";
  const follower = server.api.follow(chatId, eventCursor);
  const { transcript } = follower;
  await follower.until(({ status, isCaughtUp }) => isCaughtUp && status === "WAITING");
  expect({
    refreshes: transcript.log.filter((name) => name.startsWith("refresh")),
    messages: transcript.log.filter((name) => name.startsWith("message")),
    breaches: transcript.breaches,
  }).toEqual({ refreshes: [], messages: ["message USER", "message ASSISTANT"], breaches: [] });
  expect(transcript.messages).toEqual((await server.api.chat(chatId))?.messages.nodes);
  await follower.close();
  await server.close();
});
