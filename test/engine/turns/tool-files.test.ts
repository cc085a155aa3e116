// Files of tool results: they are stored for the chat's owner before the result is saved, the result refers to them, and
// a problem with them fails no turn.
import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { StoredFile, ToolResultPart } from "../../../src/domain/chats/message-parts.js";
import type { ToolFile, ToolOutcome } from "../../../src/domain/chats/tool-outcome.js";
import { MAX_RESULT_FILE_BYTES } from "../../../src/engine/tools/files/result-files.js";
import type { Tool } from "../../../src/engine/tools/tool.js";
import { PDF, PNG } from "../../providers/requests/histories.js";
import { isAtRest, type Replica, World } from "../world.js";

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

const picture = (name = "chart.png"): ToolFile => ({ name, mediaType: "image/png", bytes: PNG });

function tool(outcome: ToolOutcome): Tool {
  const run = () => Promise.resolve(outcome);
  return { name: "draw", description: "Draws.", inputSchema: { type: "object" }, run };
}

/** The turn's only tool result, after the turn has ended well. */
async function resultOf(outcome: ToolOutcome, change: (replica: Replica) => void = () => undefined) {
  const replica = world.replica({ tools: [tool(outcome)] });
  change(replica);
  await replica.worker.start();
  world.answers({ toolCalls: [{ name: "draw", arguments: {} }] }, { text: "Seen." });
  const chatId = await world.createChat(replica, "go", { workspaceId: world.workspaceId });
  expect(await world.until(chatId, isAtRest)).toMatchObject({ status: "waiting", lastError: null });
  const parts = (await world.history(chatId)).flatMap((message) => message.parts);
  const result = parts.find((part): part is ToolResultPart => part.type === "tool-result");
  if (!result) throw new Error("No result was saved.");
  return result;
}

async function contents(files: readonly StoredFile[] = []): Promise<(string | undefined)[]> {
  const ids = files.map(({ fileId }) => fileId);
  const rows: { id: string; text: string }[] = await world.database.dataSource.query(
    "SELECT f.id, encode(f.content, 'hex') AS text FROM files f JOIN chats c ON c.id = f.chat_id WHERE c.owner_id = f.owner_id",
  );
  const found = new Map(rows.map(({ id, text }) => [id, Buffer.from(text, "hex").toString("latin1")]));
  return ids.map((id) => found.get(id));
}

test("files of a tool's result are stored for the chat's owner, in their order and byte by byte", async () => {
  const bytes = Buffer.from([0, 1, 2, 255]);
  const files = [picture(), { name: "raw", mediaType: "application/x-raw", bytes }];
  const result = await resultOf({ result: "Two files.", isError: false, files });
  expect(result).toMatchObject({ result: "Two files.", isError: false });
  expect(result.files).toEqual([
    { fileId: expect.any(String), name: "chart.png", mediaType: "image/png", sizeBytes: PNG.length },
    { fileId: expect.any(String), name: "raw", mediaType: "application/x-raw", sizeBytes: 4 },
  ]);
  expect(await contents(result.files)).toEqual([PNG.toString("latin1"), bytes.toString("latin1")]);
});

test("a result without files has no file fields and needs no statement", async () => {
  const saved: unknown[] = [];
  const result = await resultOf({ result: "ok", isError: false, files: [] }, ({ dependencies }) => {
    dependencies.store.saveFiles = (...asked) => (saved.push(asked), Promise.resolve([]));
  });
  expect(result).not.toHaveProperty("files");
  expect(saved).toEqual([]);
});

test("files beyond the tenth, and those that are too large, become notes", async () => {
  const large = {
    name: "film.bin",
    mediaType: "video/mp4",
    bytes: new Uint8Array(MAX_RESULT_FILE_BYTES + 1),
  };
  const pictures = Array.from({ length: 11 }, (_, index) => picture(`${index}.png`));
  const result = await resultOf({ result: "Many.", isError: false, files: [large, ...pictures] });
  expect(result.files?.map(({ name }) => name)).toEqual(pictures.slice(0, 10).map(({ name }) => name));
  expect(result.result).toBe(
    "Many.\n" +
      `[file film.bin (video/mp4, ${MAX_RESULT_FILE_BYTES + 1} bytes) was not kept: it is larger than 10485760 bytes]\n` +
      `[file 10.png (image/png, ${PNG.length} bytes) was not kept: one call may give 10 files]`,
  );
});

test("when files cannot be stored, the model loses the files, not the result", async () => {
  const result = await resultOf(
    { result: { rows: 3 }, isError: false, files: [picture()] },
    ({ dependencies }) => {
      dependencies.store.saveFiles = () => Promise.reject(new Error("The disk is full."));
    },
  );
  expect(result).toMatchObject({
    result: { rows: 3, notes: ["[1 of the tool's files could not be kept]"] },
    isError: false,
  });
  expect(result).not.toHaveProperty("files");
});

test("either all files of a call are stored or none", async () => {
  const files = [picture(), { ...picture(), name: "a\u0000b" }];
  const chat = { chatId: randomUUID(), ownerId: world.viewer.userId };
  const insert = world.replica().dependencies.store.saveFiles(chat, files);
  await expect(insert).rejects.toThrow();
  const counted: { count: string }[] = await world.database.dataSource.query("SELECT count(*) FROM files");
  expect(counted).toEqual([{ count: "0" }]);
});

test("a failed call keeps its files too: a screenshot shows what went wrong", async () => {
  const result = await resultOf({
    result: { error: "Not found." },
    isError: true,
    files: [{ name: "/tmp/shots/\u202egnp.exe", mediaType: "image/png", bytes: PDF }],
  });
  expect(result).toMatchObject({ isError: true, result: { error: "Not found." } });
  expect(result.files).toMatchObject([{ name: "gnp.exe", mediaType: "application/pdf" }]);
});
