import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Payload } from "../../support/clients/api-shapes.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";
import { textOf } from "../../support/clients/transcript.js";

let environment: TestEnvironment;
let parley: TestParley;
beforeAll(async () => {
  environment = await createTestEnvironment();
  parley = await environment.start();
  // Chats of this size would be compacted before they can be compared.
  await environment.database.dataSource.query("UPDATE model_configs SET compaction_threshold_percent = 100");
});
afterAll(() => environment.remove());

/** Characters that clients can send: NUL, private use characters, and in `LONE` half a surrogate pair. */
const STRANGE = "a\u0000b \uE000 \uE000\uE001 \uE001 \\u0000 \u{1F600} \u202E";
const LONE = "\uD800 and \uDC00";

describe("size", () => {
  test("a body of 14 MB is refused before it is read whole", async () => {
    const response = await fetch(`${parley.api.url}/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${parley.api.token}` },
      body: JSON.stringify({ query: "{ __typename }", variables: { text: "x".repeat(14_000_000) } }),
    });
    expect([response.status, await response.json()]).toMatchObject([413, { errors: [{}] }]);
    expect((await parley.api.ask("{ __typename }")).status).toBe(200);
  });

  test("a message of 900 KB is saved and streamed completely", async () => {
    const { chatId, follower } = await parley.api.quietChat();
    const text = `[[demo: deltas=2]] ${randomBytes(450_000).toString("hex")}`.slice(0, 900_000);
    await parley.api.send(chatId, text);
    await follower.until(({ log }) => log.at(-1) === "status WAITING");
    expect(follower.transcript.messages.map(textOf).slice(2)).toEqual([text, "word1 word2 "]);
    expect(follower.transcript.messages).toEqual((await parley.api.chat(chatId))?.messages.nodes);
    await follower.close();
  });

  test.each([
    ["Chinese", "漢", false],
    ["emoji", "😀", false],
    ["emoji, each half escaped in JSON", "😀", true],
  ])(
    "a message of a million characters is accepted in any script: %s",
    async (_script, character, isEscaped) => {
      const text = character.repeat(1_000_000);
      const query = `mutation ($input: EditChatMessageInput!) { editChatMessage(input: $input) { userErrors { code path } } }`;
      const plain = JSON.stringify({
        query,
        // The message does not exist; the response only shows that its text was parsed and accepted.
        variables: { input: { messageId: "msg_999999", parts: [{ text: { text } }] } },
      });
      const body = isEscaped
        ? plain.replace(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`)
        : plain;
      const headers = { "content-type": "application/json", authorization: `Bearer ${parley.api.token}` };
      const response = await fetch(`${parley.api.url}/graphql`, { method: "POST", headers, body });
      expect([response.status, await response.text()]).toEqual([200, expect.not.stringContaining("parts")]);
    },
  );

  test("a message of more than a million characters is refused", async () => {
    const parts = [500_000, 500_000, 1].map((length) => ({ text: { text: "x".repeat(length) } }));
    const answer = await parley.api.change("createChat", { parts }, "chat { id }");
    expect(answer).toMatchObject({
      chat: null,
      userErrors: [{ __typename: "InvalidInput", path: ["parts"] }],
    });
  });

  test("a response of 5 MB reaches subscriber and database unchanged", async () => {
    const { chatId, follower } = await parley.api.quietChat();
    await parley.api.send(chatId, "[[demo: deltas=500 size=10000]]");
    await follower.until(({ messages, status }) => messages.length === 4 && status === "WAITING");
    const shown = await parley.api.chat(chatId);
    expect(follower.transcript.messages).toEqual(shown?.messages.nodes);
    expect(shown?.messages.nodes.map(textOf).at(-1)?.length).toBe(5_000_000);
    expect(follower.transcript.breaches).toEqual([]);
    await follower.close();
  });

  test("10 MB of command output are truncated in the middle, and the chat continues", async () => {
    const { chatId, follower } = await parley.api.quietChat({ workspaceId: parley.workspaceId });
    await parley.api.send(
      chatId,
      "run `echo begin; head -c 10000000 /dev/zero | tr '\\0' x; echo; echo end`",
    );
    await follower.until(({ log }) => log.at(-1) === "status WAITING");
    const [part] = follower.transcript.messages.find(({ role }) => role === "TOOL")?.parts ?? [];
    expect(part?.result).toMatchObject({ output: expect.any(String) });
    const { output, exit_code: exitCode } = part!.result as { output: string; exit_code: number };
    expect({
      exitCode,
      isShort: output.length < 200_000,
      head: output.slice(0, 8),
      tail: output.slice(-17),
    }).toEqual({
      exitCode: 0,
      isShort: true,
      head: "begin\nxx",
      tail: " [truncated]\nend\n",
    });
    expect(follower.transcript.breaches).toEqual([]);
    await follower.close();
  });
});

describe("strange characters", () => {
  test("survive in a message, in its events and in the database", async () => {
    const { chatId, follower } = await parley.api.quietChat();
    await parley.api.send(chatId, `${STRANGE} [[demo: deltas=1]]`);
    await follower.until(({ log }) => log.at(-1) === "status WAITING");
    expect(follower.transcript.messages.map(textOf)[2]).toBe(`${STRANGE} [[demo: deltas=1]]`);
    expect(follower.transcript.messages).toEqual((await parley.api.chat(chatId))?.messages.nodes);
    await follower.close();
  });

  test("survive in a queued message and when it is sent", async () => {
    const { chatId, follower } = await parley.api.quietChat();
    await parley.api.send(chatId, "[[demo: hang=1]]");
    await follower.until(({ preview }) => preview !== null);
    await parley.api.send(chatId, `${STRANGE} [[demo: deltas=1]]`);
    await follower.until(({ queue }) => queue.length === 1);
    expect(follower.transcript.queue).toEqual([`${STRANGE} [[demo: deltas=1]]`]);
    await parley.api.change("interruptChat", { chatId }, "chat { id }");
    await follower.until(({ log, queue }) => queue.length === 0 && log.at(-1) === "status WAITING");
    expect(follower.transcript.messages.map(textOf)[4]).toBe(`${STRANGE} [[demo: deltas=1]]`);
    await follower.close();
  });

  test("a lone surrogate becomes the replacement character, both live and saved", async () => {
    const chatId = await parley.api.createChat(`${LONE} [[demo: deltas=1]]`);
    const follower = parley.api.follow(chatId);
    await follower.untilStatus("WAITING");
    const [first] = (await parley.api.chat(chatId))?.messages.nodes.map(textOf) ?? [];
    expect([first, follower.transcript.messages.map(textOf)[0]]).toEqual([
      "\uFFFD and \uFFFD [[demo: deltas=1]]",
      "\uFFFD and \uFFFD [[demo: deltas=1]]",
    ]);
    await follower.close();
  });

  test("survive in a command's output, if they are text", async () => {
    const { chatId, follower } = await parley.api.quietChat({ workspaceId: parley.workspaceId });
    await parley.api.send(chatId, "run `printf 'a\\0b \\356\\200\\200 \\377 end'`");
    await follower.until(({ log }) => log.at(-1) === "status WAITING");
    const tool = follower.transcript.messages.find(({ role }) => role === "TOOL");
    expect(tool?.parts).toMatchObject([{ result: { output: "a\u0000b \uE000 \uFFFD end" } }]);
    expect(follower.transcript.messages).toEqual((await parley.api.chat(chatId))?.messages.nodes);
    expect(follower.transcript.breaches).toEqual([]);
    await follower.close();
  });

  const strange = `${STRANGE}${LONE}`;
  test.each<[string, string, object]>([
    ["a title", "createChat", { title: strange }],
    ["the words that a title is made of", "createChat", { parts: [{ text: { text: `${strange}` } }] }],
    ["a label's key", "createChat", { labels: [{ key: strange, value: "v" }] }],
    ["a label's value", "createChat", { labels: [{ key: "k", value: strange }] }],
    ["a key of a request", "createChat", { idempotencyKey: strange }],
    [
      "a file's path",
      "createChat",
      { parts: [{ fileReference: { path: strange, startLine: 1, endLine: 1, content: strange } }] },
    ],
    [
      "a client's tool",
      "createChat",
      {
        clientTools: [
          { name: "t", description: strange, inputSchema: { type: "object", [strange]: strange } },
        ],
      },
    ],
  ])("in %s are accepted or refused, but break nothing", async (_case, name, more) => {
    const input = { parts: [{ text: { text: "[[demo: deltas=1]]" } }], ...more };
    const payload = await parley.api.change<Payload>(name, input, "chat { id status }");
    if (payload.userErrors.length > 0) {
      expect(payload).toMatchObject({ chat: null, userErrors: [{ code: "INVALID" }] });
      return;
    }
    const follower = parley.api.follow(payload.chat?.id ?? "");
    await follower.untilStatus("WAITING");
    await follower.close();
  });

  test("in a search or filter find nothing", async () => {
    const query = `query ($text: String!) {
      workspaces(search: $text) { nodes { id } }
      chats(filter: { search: $text, labels: [{ key: $text, value: $text }] }) { nodes { id } }
    }`;
    for (const text of [STRANGE, LONE, "%", "_", "\\"]) {
      const { data, errors } = await parley.api.ask(query, { text });
      const isRefused = errors.every(({ extensions }) => extensions.code === "BAD_USER_INPUT");
      expect([text, data ?? isRefused]).toEqual([
        text,
        data === null ? true : { workspaces: { nodes: [] }, chats: { nodes: [] } },
      ]);
    }
  });
});

describe("documents", () => {
  const deep = (depth: number) =>
    `{ chats { nodes ${"{ messages { nodes { chat ".repeat(depth)} { id } ${"} } }".repeat(depth)} } }`;
  test.each([
    ["too deep", deep(10), "QUERY_TOO_COSTLY"],
    [
      "with too many aliases",
      `{ ${Array.from({ length: 20 }, (_, i) => `a${i}: __typename`).join(" ")} }`,
      "QUERY_TOO_COSTLY",
    ],
    [
      "too costly",
      "{ chats(first: 100) { nodes { messages(last: 100) { nodes { chat { id } } } } } }",
      "QUERY_TOO_COSTLY",
    ],
    ["that is none", "}{", "GRAPHQL_PARSE_FAILED"],
    ["that asks for what is not there", "{ secrets }", "GRAPHQL_VALIDATION_FAILED"],
    ["that is empty", "", "BAD_REQUEST"],
  ])("a document %s is refused", async (_case, query, code) => {
    expect((await parley.api.ask(query)).errors).toMatchObject([{ extensions: { code } }]);
  });

  test.each([
    ["first: 0"],
    ["first: 101"],
    ["first: -1"],
    ["first: 1, last: 1"],
    ['first: 1, after: "nonsense"'],
    [`first: 1, after: "${Buffer.from("p1|chats.updated|'; DROP TABLE chats|x").toString("base64url")}"`],
    [`first: 1, after: "${"x".repeat(5_000)}"`],
  ])("a page of chats(%s) is refused with the rule", async (page) => {
    const { errors } = await parley.api.ask(`{ chats(${page}) { nodes { id } } }`);
    expect(errors).toMatchObject([{ extensions: { code: "BAD_USER_INPUT" } }]);
  });
});

describe("messages", () => {
  test.each<[string, object[], string[]]>([
    ["of no part", [], ["parts"]],
    ["of an empty text", [{ text: { text: "" } }], ["parts", "0", "text", "text"]],
    ["of blanks", [{ text: { text: " \n\t" } }], ["parts", "0", "text", "text"]],
    ["of 101 parts", Array.from({ length: 101 }, () => ({ text: { text: "x" } })), ["parts"]],
    [
      "of lines that end before they begin",
      [{ fileReference: { path: "a", startLine: 5, endLine: 4, content: "" } }],
      ["parts", "0", "fileReference", "endLine"],
    ],
  ])("%s are refused with their position", async (_case, parts, path) => {
    const { chatId, follower } = await parley.api.quietChat();
    const refused = { chat: null, userErrors: [{ __typename: "InvalidInput", code: "INVALID", path }] };
    expect([
      await parley.api.change("sendChatMessage", { chatId, parts }, "chat { id }"),
      await parley.api.change("createChat", { parts }, "chat { id }"),
    ]).toMatchObject([refused, refused]);
    expect((await parley.api.chat(chatId))?.messages.nodes.length).toBe(2);
    await follower.close();
  });
});

describe("cursors", () => {
  const cursor = (text: string) => Buffer.from(text).toString("base64url");
  test.each([
    ["nonsense"],
    [""],
    ["\u0000"],
    ["x".repeat(5_000)],
    [cursor("v1|999999|9|0||0")],
    [cursor("v1|999999999999999|9|0|gen_1_1|7")],
    [cursor("v2|1|9|0||0")],
    [cursor("v1|-1|9|0||0")],
  ])("an unusable one causes a refresh, never an error: %#", async (after) => {
    const chatId = await parley.api.createChat("[[demo: deltas=1]]");
    const follower = parley.api.follow(chatId, after);
    await follower.untilStatus("WAITING");
    expect(follower.transcript.log[0]).toBe("refresh CURSOR_TOO_OLD");
    await follower.close();
  });

  test("one that claims deltas that were never written still receives the message", async () => {
    const { chatId, follower } = await parley.api.quietChat();
    await follower.close();
    const [, version] = Buffer.from(follower.transcript.cursor ?? "", "base64url")
      .toString()
      .split("|");
    const lying = parley.api.follow(chatId, cursor(`v1|${version}|9|0|gen_${version}_1|1000`));
    await lying.until(({ isCaughtUp }) => isCaughtUp);
    await parley.api.send(chatId, "[[demo: deltas=50 delay=1]]");
    await lying.until(({ log }) => log.at(-1) === "status WAITING");
    expect(lying.transcript.answers).toHaveLength(1);
    await lying.close();
  });
});

test("a server whose database connections are all in use is still ready", async () => {
  const { pool } = parley.parley.database;
  const taken = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()));
  try {
    const response = await fetch(`${parley.api.url}/readyz`);
    expect([response.status, await response.json()]).toEqual([
      200,
      { status: "ready", checks: { database: "ok" } },
    ]);
  } finally {
    for (const client of taken) client.release();
  }
});
