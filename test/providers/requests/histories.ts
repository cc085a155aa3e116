/**
 * Ten histories that every vendor must be able to continue, repaired as in production. The parts that only a vendor's
 * own answers contain (its thinking, its searches) come from the vendor's test.
 */
import type {
  FilePart,
  PromptPart,
  StoredFile,
  ToolResultPart,
} from "../../../src/domain/chats/message-parts.js";
import { repairPrompt } from "../../../src/engine/prompt/repair.js";
import type { ModelRequest, PromptMessage, ToolDefinition } from "../../../src/providers/types.js";
import { assistant, text, tool, user } from "./prompts.js";

/** Parts of this vendor's own answers. */
export type VendorParts = {
  /** Reasoning parts with the metadata that the vendor needs back. */
  reasoning: PromptPart[];
  /** A complete search with its result, and the text that cites it. */
  search: PromptPart[];
  /** The same parts of another vendor; none of its metadata may be sent. */
  otherVendor: PromptPart[];
};

export type History = { name: string; request: ModelRequest };

export const TOOLS: ToolDefinition[] = [
  {
    name: "execute",
    description: "Runs a command.",
    inputSchema: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
  },
  { name: "process_list", description: "Lists processes.", inputSchema: { type: "object", properties: {} } },
];

const call = (toolCallId: string, command: string): PromptPart => ({
  type: "tool-call",
  toolCallId,
  toolName: "execute",
  arguments: { command },
});
const result = (toolCallId: string, output: string, isError = false): ToolResultPart => ({
  type: "tool-result",
  toolCallId,
  toolName: "execute",
  result: isError ? { error: output } : { output, exitCode: 0 },
  isError,
});

/** The smallest possible PNG: one transparent pixel. */
export const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
export const PDF = Buffer.from("%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF");
const file = (fileId: string, name: string, mediaType: string, bytes: Uint8Array): FilePart => ({
  type: "file",
  fileId,
  name,
  mediaType,
  sizeBytes: bytes.length,
});
const input = (...args: Parameters<typeof file>): StoredFile => {
  const { type: _, ...stored } = file(...args);
  return stored;
};
const SOUND = Buffer.from("ID3\u0003");
const NOTES = Buffer.from("größer\n");
const ARCHIVE = Buffer.from([0x50, 0x4b, 3, 4]);
const FILES = new Map<string, Uint8Array>([
  ["png", PNG],
  ["pdf", PDF],
  ["notes", NOTES],
  ["zip", ARCHIVE],
  ["sound", SOUND],
]);

function history(name: string, messages: PromptMessage[], more: Partial<ModelRequest> = {}): History {
  const request = { model: "some-model", system: "Be brief.", tools: TOOLS, maxOutputTokens: 32_000 };
  return { name, request: { ...request, messages: repairPrompt(messages), ...more } };
}

export function histories({ reasoning, search, otherVendor }: VendorParts): History[] {
  return [
    history("plain", [user(text("hi")), assistant(text("hello")), user(text("how are you?"))], {
      tools: [],
      system: "",
    }),
    history("tools", [
      user(text("list")),
      assistant(text("Looking."), call("a/1", "ls")),
      tool(result("a/1", "src")),
      user(text("thanks")),
    ]),
    history("parallel tools", [
      user(text("list all")),
      assistant(call("a", "ls a"), call("b", "ls b"), call("c", "ls c")),
      tool(result("c", "C"), result("a", "A"), result("b", "B")),
    ]),
    history("a web search", [user(text("why?")), assistant(...search), user(text("sure?"))]),
    history("reasoning, and tools behind it", [
      user(text("go")),
      assistant(...reasoning, call("a", "ls")),
      tool(result("a", "src")),
    ]),
    history(
      "an image, a PDF and a text",
      [
        user(
          text("look"),
          file("png", "dot.png", "image/png", PNG),
          file("pdf", "paper.pdf", "application/pdf", PDF),
          file("notes", "notes.txt", "text/plain; charset=utf-8", NOTES),
        ),
      ],
      { files: FILES },
    ),
    history(
      "files that cannot be shown",
      [
        user(file("zip", "all.zip", "application/zip", ARCHIVE), file("gone", "gone.png", "image/png", PNG)),
        assistant(text("hm")),
        user(text("go on")),
      ],
      { files: FILES },
    ),
    history(
      "files that tools gave",
      [
        user(text("draw")),
        assistant(call("a", "draw"), call("b", "print"), call("c", "shoot")),
        tool(
          {
            ...result("a", "Two."),
            files: [
              input("png", "dot.png", "image/png", PNG),
              input("zip", "all.zip", "application/zip", ARCHIVE),
            ],
          },
          {
            ...result("b", "A page."),
            files: [
              input("pdf", "paper.pdf", "application/pdf", PDF),
              input("gone", "gone.png", "image/png", PNG),
              input("sound", "beep.mp3", "audio/mpeg", SOUND),
            ],
          },
          { ...result("c", "no screen", true), files: [input("png", "shot.png", "image/png", PNG)] },
        ),
      ],
      { files: FILES },
    ),
    history("an interrupted step", [
      user(text("go")),
      assistant(...reasoning, text("First"), call("a", "ls"), call("b", "make")),
      tool(result("a", "src")),
      user(text("stop that")),
    ]),
    history("after a compaction", [
      user(text("Summary of the conversation so far: we listed files.")),
      assistant(text("I go on."), call("z", "ls")),
      tool(result("z", "src")),
      assistant(text("Done.")),
      user(text("next")),
    ]),
    history("failed tools, blank parts, another vendor's answers and words in between", [
      assistant(text("Welcome.")),
      user(text("go"), text("  ")),
      assistant(...otherVendor, text("\n"), call("a", "false")),
      tool(result("a", "no such file", true)),
      user(text("half \ud800 a pair")),
      user(text("again")),
    ]),
  ];
}
