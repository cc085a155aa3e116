// Chats saved with content version 0: users can read and continue them, and the model receives their history.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DemoRequest } from "../../../src/demo-model/request.js";
import { encodeId } from "../../../src/domain/common/ids.js";
import type { MessageRole } from "../../../src/domain/chats/message-parts.js";
import { Database } from "../../../src/store/common/database.js";
import { type GatedModel, startGatedModel } from "../../support/models/gated-model.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";
import { insertChat } from "../../support/database/rows.js";
import { eventually } from "../../support/eventually.js";

type StatusShown = { chat: { status: string } };
const STATUS = "query ($id: ID!) { chat(id: $id) { status } }";

let environment: TestEnvironment;
let model: GatedModel;
let parley: TestParley;
let database: Database;
let ownerId: string;
let request: DemoRequest | undefined;
beforeAll(async () => {
  environment = await createTestEnvironment();
  model = await startGatedModel((asked) => {
    request = asked;
    return { text: "I remember." };
  });
  parley = await environment.start(model.settings);
  database = new Database(environment.database.dataSource);
  const [admin] = await database.query<{ id: string }>(
    {
      name: "test.find-admin",
      text: "SELECT id FROM users WHERE role = 'admin'",
    },
    [],
  );
  ownerId = admin?.id ?? "";
});
afterAll(async () => {
  await environment.remove();
  await model.close();
});

/** An idle chat with messages as version 0 wrote them. */
async function oldChat(...messages: [MessageRole, unknown][]): Promise<string> {
  const chatId = await insertChat(database, { ownerId });
  for (const [role, content] of messages) {
    await database.query(
      {
        name: "test.insert-version-0",
        text: `INSERT INTO chat_messages (chat_id, role, visibility, content_version, content, author_id, revision)
          VALUES ($1, $2, $3, 0, $4, $5, 6)`,
      },
      [
        chatId,
        role,
        role === "system" ? "model" : "both",
        JSON.stringify(content),
        role === "user" ? ownerId : null,
      ],
    );
  }
  return encodeId("chat", chatId);
}

const OLD: [MessageRole, unknown][] = [
  ["system", "Speak plainly."],
  ["user", "What is in the file?"],
  [
    "assistant",
    [
      { type: "text", data: { text: "I look." } },
      { type: "tool-call", data: { tool_call_id: "c1", tool_name: "read_file", input: '{"path":"a.txt"}' } },
    ],
  ],
  ["tool", [{ tool_call_id: "c1", tool_name: "read_file", result: { content: "forty-two" } }]],
  ["assistant", [{ type: "text", data: { text: "Forty-two." } }]],
  ["user", [{ type: "text", text: "And now?" }]],
  ["assistant", null],
];

test("a chat of version 0 is shown as written", async () => {
  const chatId = await oldChat(...OLD);
  const shown = await parley.api.chat(chatId);
  expect(shown?.messages.nodes.map(({ role, parts }) => [role, parts])).toMatchObject([
    ["USER", [{ __typename: "TextPart", text: "What is in the file?" }]],
    [
      "ASSISTANT",
      [
        { __typename: "TextPart", text: "I look." },
        { __typename: "ToolCallPart", toolCallId: "c1", toolName: "read_file", arguments: { path: "a.txt" } },
      ],
    ],
    [
      "TOOL",
      [{ __typename: "ToolResultPart", toolCallId: "c1", result: { content: "forty-two" }, isError: false }],
    ],
    ["ASSISTANT", [{ __typename: "TextPart", text: "Forty-two." }]],
    ["USER", [{ __typename: "TextPart", text: "And now?" }]],
    ["ASSISTANT", []],
  ]);
});

test("a chat of version 0 continues, and the model receives all of it", async () => {
  const chatId = await oldChat(...OLD);
  const follower = await parley.api.followFromNow(chatId);
  await parley.api.send(chatId, "Do you remember?");
  await follower.until(({ answers }) => answers.at(-1) === "I remember.");
  await follower.untilStatus("WAITING");
  await follower.close();
  expect(follower.transcript.breaches).toEqual([]);
  expect(request?.system).toContain("Speak plainly.");
  const sent = request?.turns.map((turn) => {
    if (turn.role === "results") return turn.results.map(({ text }) => text).join();
    return turn.role === "user" ? turn.text : [turn.text, ...turn.calls.map(({ name }) => name)].join(" + ");
  });
  expect(sent).toEqual([
    "What is in the file?",
    "I look. + read_file",
    '{"content":"forty-two"}',
    "Forty-two.",
    "And now?\nDo you remember?",
  ]);
});

test("a message of version 0 that cannot be parsed is an error, never an empty message, and its turn fails", async () => {
  const chatId = await oldChat(["user", "Hello"], ["assistant", "a bare text"]);
  const query = `query ($id: ID!) { chat(id: $id) { id messages(last: 5) { nodes { id } } } }`;
  const { errors } = await parley.api.ask(query, { id: chatId });
  expect(errors).toMatchObject([{ extensions: { code: "INTERNAL_SERVER_ERROR" } }]);
  await parley.api.send(chatId, "Go on");
  const status = async () => (await parley.api.get<StatusShown>(STATUS, { id: chatId })).chat.status;
  await eventually(async () => expect(await status()).toBe("ERROR"));
});
