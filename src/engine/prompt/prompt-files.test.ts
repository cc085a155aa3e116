import { expect, test } from "vitest";
import type { MessagePart, StoredFile } from "../../domain/chats/message-parts.js";
import type { PromptMessage } from "../../providers/types.js";
import { MAX_PROMPT_FILE_BYTES, MAX_PROMPT_FILES, promptFiles } from "./prompt-files.js";

const MIB = 1024 * 1024;
const file = (fileId: string, sizeBytes = 1, mediaType = "image/png"): StoredFile => ({
  fileId,
  name: fileId,
  mediaType,
  sizeBytes,
});
const result = (...files: StoredFile[]): PromptMessage => {
  const part: MessagePart = {
    type: "tool-result",
    toolCallId: "a",
    toolName: "b",
    result: "",
    isError: false,
  };
  return { role: "tool", parts: [{ ...part, files }] };
};
const sent = (...files: StoredFile[]): PromptMessage => ({
  role: "user",
  parts: files.map((it) => ({ type: "file", ...it })),
});
const numbered = (count: number, sizeBytes?: number) =>
  Array.from({ length: count }, (_, index) => file(String(index), sizeBytes));

test.each<[string, PromptMessage[], string[]]>([
  ["nothing", [], []],
  ["text only", [{ role: "user", parts: [{ type: "text", text: "hi" }] }], []],
  [
    "files of users and of tools, in their order",
    [sent(file("a")), result(file("b"), file("c"))],
    ["a", "b", "c"],
  ],
  [
    "a user's text file, and not a tool's",
    [sent(file("a", 1, "text/csv")), result(file("b", 1, "text/csv"))],
    ["a"],
  ],
  [
    "a file once that is shown twice, where it stands last",
    [sent(file("a"), file("b"), file("a"))],
    ["b", "a"],
  ],
  [
    "as many as fit by number",
    [result(...numbered(MAX_PROMPT_FILES))],
    numbered(20).map(({ fileId }) => fileId),
  ],
  ["as many as fit by size", [result(...numbered(4, 4 * MIB))], ["0", "1", "2", "3"]],
  ["the newest when they are few and large", [result(...numbered(3, 8 * MIB))], ["1", "2"]],
  ["none that is too large alone", [result(file("a", MAX_PROMPT_FILE_BYTES + 1))], []],
  ["what is shown twice by twice its size", [sent(file("a"), file("b", 9 * MIB), file("b", 9 * MIB))], []],
])("the prompt has %s", (_, messages, ids) => {
  expect(promptFiles(messages)).toEqual(ids);
});

test("old files are removed five at a time, so that four of five new ones leave the beginning of the prompt unchanged", () => {
  const first = (count: number) => Number(promptFiles([result(...numbered(count))])[0]);
  expect([20, 21, 22, 25, 26, 30, 31].map(first)).toEqual([0, 5, 5, 5, 10, 10, 15]);
});

test("where larger files are removed together, the five newest stay if they fit", () => {
  expect(promptFiles([result(...numbered(7, 2.5 * MIB))])).toEqual(["2", "3", "4", "5", "6"]);
});
