// Files in messages: who may send which, what models receive, and which are removed when there are too many.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type DemoModel, startDemoModel } from "../../../src/demo-model/server.js";
import { MAX_CHAT_FILES } from "../../../src/domain/files/file-limits.js";
import { decodeId } from "../../../src/domain/common/ids.js";
import { PDF, PNG } from "../../providers/requests/histories.js";
import { insertTestFile } from "../../support/files.js";
import { restOf, setupBy, type UserErrors, refusalsOf } from "../../support/models/model-setup.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";
import { announce, findFile, upload } from "../../support/clients/uploads.js";

type Api = TestParley["api"];
let environment: TestEnvironment;
let server: TestParley;
let vendor: DemoModel;
let ann: Api;
let annId: string;
/** Models by the file types that their vendors accept. */
let models: Record<"claude" | "oldClaude" | "gpt" | "compatible" | "gemini", string>;
beforeAll(async () => {
  const script = {
    attach: [
      { toolCalls: [{ name: "attach_file", arguments: { path: "chart.png" } }] },
      { text: "Here it is." },
    ],
  };
  [environment, vendor] = await Promise.all([
    createTestEnvironment(),
    startDemoModel({ host: "127.0.0.1", port: 0, script }),
  ]);
  server = await environment.start();
  ann = await server.addUser("ann");
  type Read = { viewer: { user: { id: string } } };
  annId = decodeId("user", (await ann.get<Read>("{ viewer { user { id } } }")).viewer.user.id) ?? "";
  const setup = setupBy(server.api);
  const [anthropic, openai, compatible, google] = await Promise.all(
    ["ANTHROPIC", "OPENAI", "OPENAI_COMPATIBLE", "GOOGLE"].map((kind) =>
      setup.provider(vendor.url, { kind, apiKey: { set: "key" } }),
    ),
  );
  models = {
    claude: await setup.model(anthropic ?? ""),
    oldClaude: await setup.model(anthropic ?? "", { model: "claude-3-haiku-20240307" }),
    gpt: await setup.model(openai ?? "", { model: "gpt-5" }),
    compatible: await setup.model(compatible ?? "", { model: "llama" }),
    gemini: await setup.model(google ?? "", { model: "gemini-3" }),
  };
});
afterAll(async () => {
  await environment.remove();
  await vendor.close();
});
beforeEach(() => void (vendor.requests as unknown[]).splice(0));

const text = { text: { text: "[[demo: deltas=1]]" } };
const file = (fileId: string) => ({ file: { fileId } });
const PARTS = `parts { __typename ... on FilePart { file { id name mediaType sizeBytes isAvailable url } } }`;
type Shown = { __typename: string; file?: { id: string; name: string; isAvailable: boolean; url: string } };

async function create(api: Api, parts: object[], more: object = {}) {
  type Made = { chat: { id: string } | null; userErrors: UserErrors };
  const made = await api.change<Made>("createChat", { parts, workspaceId: null, ...more }, "chat { id }");
  return { chatId: made.chat?.id ?? "", refusals: refusalsOf(made.userErrors) };
}
async function send(api: Api, chatId: string, parts: object[]) {
  type Sent = { message: { parts: Shown[] } | null; userErrors: UserErrors };
  const sent = await api.change<Sent>("sendChatMessage", { chatId, parts }, `message { ${PARTS} }`);
  return { parts: sent.message?.parts ?? [], refusals: refusalsOf(sent.userErrors) };
}
async function partsOf(api: Api, chatId: string): Promise<Shown[]> {
  type Read = { chat: { messages: { nodes: { role: string; parts: Shown[] }[] } } };
  const query = `query ($id: ID!) { chat(id: $id) { messages { nodes { role ${PARTS} } } } }`;
  const { chat } = await api.get<Read>(query, { id: chatId });
  return chat.messages.nodes.flatMap(({ role, parts }) => (role === "USER" ? parts : []));
}
const pdf = () => upload(ann, { name: "paper.pdf", mediaType: "application/pdf", bytes: PDF });
const asked = () => JSON.stringify(vendor.requests.at(-1)?.body);

test("a file is sent in a message, shown there with its URL, and listed in its chat", async () => {
  const fileId = await pdf();
  const { chatId } = await create(ann, [text, file(fileId)]);
  await restOf(ann, chatId);
  const [, part] = await partsOf(ann, chatId);
  expect(part).toMatchObject({
    __typename: "FilePart",
    file: { id: fileId, name: "paper.pdf", isAvailable: true },
  });
  expect(await (await fetch(part?.file?.url ?? "")).text()).toBe(PDF.toString());
  type Read = {
    chat: { files: { nodes: { id: string }[]; pageInfo: { endCursor: string; hasNextPage: boolean } } };
  };
  const list = (after: string | null) =>
    ann.get<Read>(
      `query ($id: ID!, $after: String) { chat(id: $id) {
        files(first: 1, after: $after) { nodes { id createdAt } pageInfo { endCursor hasNextPage } } } }`,
      { id: chatId, after },
    );
  const other = await pdf();
  expect(await send(ann, chatId, [file(other)])).toMatchObject({ refusals: [] });
  const first = (await list(null)).chat.files;
  const second = (await list(first.pageInfo.endCursor)).chat.files;
  expect([first, second].map(({ nodes, pageInfo }) => [nodes[0]?.id, pageInfo.hasNextPage])).toEqual([
    [other, true],
    [fileId, false],
  ]);
});

test("only the user's own uploaded files can be sent, and each in one chat", async () => {
  const eve = await server.addUser("eve");
  const hers = await upload(eve, { bytes: Buffer.from("hers") });
  const unfinished = (await announce(ann, {})).file?.id ?? "";
  const mine = await upload(ann, { bytes: Buffer.from("mine") });
  const at = (index: number) => `parts.${index}.file.fileId`;
  expect((await create(ann, [file(hers), text, file(unfinished)])).refusals).toEqual([
    `NOT_FOUND ${at(0)}`,
    `INVALID ${at(2)}`,
  ]);
  const { chatId } = await create(ann, [text, file(mine)]);
  expect((await create(ann, [text, file(mine)])).refusals).toEqual([`INVALID ${at(1)}`]);
  expect((await send(ann, chatId, [file(mine), file(mine)])).refusals).toEqual([]);
  const many = Array.from({ length: 21 }, () => file(crypto.randomUUID().replace(/^/, "file_")));
  expect((await send(ann, chatId, many)).refusals.slice(0, 2)).toEqual([
    "INVALID parts",
    `NOT_FOUND ${at(0)}`,
  ]);
  const wrong = await ann.ask(
    `mutation ($input: SendChatMessageInput!) { sendChatMessage(input: $input) { eventCursor } }`,
    { input: { chatId, parts: [file(chatId)] } },
  );
  expect(wrong.errors[0]).toMatchObject({ extensions: { code: "BAD_USER_INPUT" } });
});

test("an edited message keeps its files and may add others; files that an admin sends to a chat belong to its owner", async () => {
  const [one, two] = [await pdf(), await pdf()];
  const { chatId } = await create(ann, [text, file(one)]);
  await restOf(ann, chatId);
  const read = "query ($id: ID!) { chat(id: $id) { messages { nodes { id } } } }";
  type Read = { chat: { messages: { nodes: { id: string }[] } } };
  const [message] = (await ann.get<Read>(read, { id: chatId })).chat.messages.nodes;
  const edited = await ann.change<{ userErrors: UserErrors }>(
    "editChatMessage",
    { messageId: message?.id, parts: [text, file(one), file(two)] },
    "chat { id }",
  );
  expect(edited.userErrors).toEqual([]);
  expect((await partsOf(ann, chatId)).flatMap((part) => part.file?.id ?? [])).toEqual([one, two]);
  const admins = await upload(server.api, { bytes: Buffer.from("from the admin") });
  expect((await send(server.api, chatId, [file(admins)])).refusals).toEqual([]);
  expect(await findFile(ann, admins)).toMatchObject({ isAvailable: true });
});

test.each([
  ["claude", '"type":"document"'],
  ["gpt", '"type":"input_file"'],
  ["gemini", '"mimeType":"application/pdf"'],
] as const)("%s receives a document, an image and a text file natively", async (model, sign) => {
  const [paper, picture, notes] = [
    await pdf(),
    await upload(ann, { name: "dot.png", mediaType: "image/png", bytes: PNG }),
    await upload(ann, { name: "notes.md", mediaType: "text/markdown", bytes: Buffer.from("Buy milk.") }),
  ];
  const parts = [text, file(paper), file(picture), file(notes)];
  const { chatId } = await create(ann, parts, { modelConfigId: models[model] });
  expect(await restOf(ann, chatId)).toMatchObject({ status: "WAITING" });
  const body = asked();
  const seen = [
    sign,
    PDF.toString("base64"),
    PNG.toString("base64"),
    "[file] notes.md\\n```\\nBuy milk.\\n```",
  ];
  expect(seen.filter((it) => !body.includes(it))).toEqual([]);
});

test.each(["oldClaude", "compatible"] as const)(
  "%s supports no documents and receives a note instead",
  async (model) => {
    const parts = [
      text,
      file(await pdf()),
      file(await upload(ann, { name: "a.zip", bytes: Buffer.from([1, 2]) })),
    ];
    const { chatId } = await create(ann, parts, { modelConfigId: models[model] });
    expect(await restOf(ann, chatId)).toMatchObject({ status: "WAITING" });
    expect(asked()).toContain(
      `[file paper.pdf (application/pdf, ${PDF.length} bytes) cannot be shown to this model]`,
    );
    expect(asked()).toContain(
      "[file a.zip (application/octet-stream, 2 bytes) cannot be shown to this model]",
    );
    expect(asked()).not.toContain(PDF.toString("base64"));
  },
);

test("files that the model attaches are shown with the tool's result, and to the model itself", async () => {
  await writeFile(join(environment.repository.folder, "chart.png"), PNG);
  const parts = [{ text: { text: "[[demo: script=attach]]" } }];
  const { chatId } = await create(server.api, parts, {
    modelConfigId: models.claude,
    workspaceId: server.workspaceId,
  });
  expect(await restOf(server.api, chatId)).toMatchObject({ answer: "Here it is." });
  expect(asked()).toContain(PNG.toString("base64"));
  type Result = { isError: boolean; result: object; files: { id: string; url: string }[] };
  type Read = { chat: { files: { nodes: { id: string }[] }; messages: { nodes: { parts: Result[] }[] } } };
  const { chat } = await server.api.get<Read>(
    `query ($id: ID!) { chat(id: $id) { files { nodes { id } } messages { nodes { parts {
      ... on ToolResultPart { isError result files { id name mediaType isAvailable url } } } } } } }`,
    { id: chatId },
  );
  const [result] = chat.messages.nodes.flatMap(({ parts: all }) => all.filter((part) => "files" in part));
  const size = PNG.length;
  expect(result).toMatchObject({
    isError: false,
    result: { name: "chart.png", media_type: "image/png", size_bytes: size },
    files: [{ name: "chart.png", mediaType: "image/png", isAvailable: true }],
  });
  expect(chat.files.nodes).toEqual([{ id: result?.files[0]?.id }]);
  const download = await fetch(result?.files[0]?.url ?? "");
  expect(Buffer.from(await download.arrayBuffer()).equals(PNG)).toBe(true);
});

test("beyond fifty files the oldest are removed, never those of the newest message, and models see that they are gone", async () => {
  const first = await pdf();
  const { chatId } = await create(ann, [text, file(first)], { modelConfigId: models.claude });
  await restOf(ann, chatId);
  const uuid = decodeId("chat", chatId) ?? "";
  const bytes = Buffer.from("from a tool");
  const given = { name: "t.txt", mediaType: "text/plain", bytes };
  const { database } = server.parley;
  const tools: string[] = [];
  for (let count = 0; count < MAX_CHAT_FILES; count += 1)
    tools.push(await insertTestFile(database, { ownerId: annId, chatId: uuid }, given));
  const left = async () => {
    const rows = await database.dataSource.query<{ id: string }[]>(
      "SELECT id FROM files WHERE chat_id = $1",
      [uuid],
    );
    return new Set(rows.map(({ id }) => id));
  };
  // The newest message contains the oldest file, so the oldest of the others was removed.
  expect(await left()).toEqual(new Set([decodeId("file", first), ...tools.slice(1)]));
  const second = await pdf();
  const third = await pdf();
  await send(ann, chatId, [text, file(second)]);
  expect((await left()).has(decodeId("file", first) ?? "")).toBe(false);
  await restOf(ann, chatId);
  await send(ann, chatId, [text, file(third)]);
  await restOf(ann, chatId);
  const shown = (await partsOf(ann, chatId)).flatMap((part) => part.file ?? []);
  expect(shown.map(({ id, isAvailable }) => [id, isAvailable])).toEqual([
    [first, false],
    [second, true],
    [third, true],
  ]);
  expect((await fetch(shown[0]?.url ?? "")).status).toBe(404);
  expect(asked()).toContain(`[file paper.pdf (application/pdf, ${PDF.length} bytes) is not available]`);
  expect((await left()).size).toBe(MAX_CHAT_FILES);
});

test("files are deleted with their chat and with their owner", async () => {
  const sue = await server.addUser("sue");
  const [sent, loose] = [
    await upload(sue, { bytes: Buffer.from("sent") }),
    await upload(sue, { bytes: Buffer.from("loose") }),
  ];
  const { chatId } = await create(sue, [text, file(sent)]);
  await restOf(sue, chatId);
  const { dataSource } = server.parley.database;
  await dataSource.query("DELETE FROM chats WHERE id = $1", [decodeId("chat", chatId)]);
  expect([await findFile(sue, sent), (await findFile(sue, loose))?.isAvailable]).toEqual([null, true]);
  const [{ owner_id: id } = { owner_id: "" }] = await dataSource.query<{ owner_id: string }[]>(
    "SELECT owner_id FROM files WHERE id = $1",
    [decodeId("file", loose)],
  );
  await dataSource.query("DELETE FROM users WHERE id = $1", [id]);
  expect(await dataSource.query("SELECT 1 FROM files WHERE owner_id = $1", [id])).toEqual([]);
});
