// Files of tool results as sent to each vendor: in the result where its format allows that, else right after the
// results, else described in words. The histories in requests/ check that the requests are valid.
import { expect, test } from "vitest";
import { buildAnthropicRequest } from "../../src/providers/anthropic/prompt.js";
import { buildGoogleRequest } from "../../src/providers/google/prompt.js";
import { buildChatRequest } from "../../src/providers/openai/chat-prompt.js";
import { buildResponsesRequest } from "../../src/providers/openai/responses-prompt.js";
import {
  compatibleChatOptionsSchema,
  openaiChatOptionsSchema,
  openaiResponsesOptionsSchema,
} from "../../src/providers/openai/options.js";
import { histories, PDF, PNG } from "./requests/histories.js";

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
const dataUrl = (type: string, bytes: Uint8Array) => `data:${type};base64,${base64(bytes)}`;
const { request } = histories({ reasoning: [], search: [], otherVendor: [] }).find(
  ({ name }) => name === "files that tools gave",
) ?? { request: undefined };
if (!request) throw new Error("The history is gone.");

const words = (output: string) => JSON.stringify({ output, exitCode: 0 });
const FAILED = JSON.stringify({ error: "no screen" });
const ZIP = "[file all.zip (application/zip, 4 bytes) cannot be shown to this model]";
const GONE = `[file gone.png (image/png, ${PNG.length} bytes) is not available]`;
const BEEP = "[file beep.mp3 (audio/mpeg, 4 bytes) cannot be shown to this model]";
const SHOT = `[file shot.png (image/png, ${PNG.length} bytes) cannot be shown to this model]`;

test("Claude sees pictures and documents within the results; in that of a failed call it reads of them", () => {
  const { messages } = buildAnthropicRequest(request, { promptCaching: "off" }, false);
  const text = (of: string) => ({ type: "text", text: of });
  expect(messages.at(-1)).toEqual({
    role: "user",
    content: [
      {
        type: "tool_result",
        tool_use_id: "a",
        content: [
          text(words("Two.")),
          { type: "image", source: { type: "base64", media_type: "image/png", data: base64(PNG) } },
          text(ZIP),
        ],
      },
      {
        type: "tool_result",
        tool_use_id: "b",
        content: [
          text(words("A page.")),
          {
            type: "document",
            title: "paper.pdf",
            source: { type: "base64", media_type: "application/pdf", data: base64(PDF) },
          },
          text(GONE),
          text(BEEP),
        ],
      },
      { type: "tool_result", tool_use_id: "c", content: `${FAILED}\n${SHOT}`, is_error: true },
    ],
  });
});

test("the Responses API gets them within the outputs", () => {
  const { input } = buildResponsesRequest(request, "openai", openaiResponsesOptionsSchema.parse({}));
  const text = (of: string) => ({ type: "input_text", text: of });
  const image = { type: "input_image", detail: "auto", image_url: dataUrl("image/png", PNG) };
  const pdf = { type: "input_file", filename: "paper.pdf", file_data: dataUrl("application/pdf", PDF) };
  expect(input?.slice(-3)).toEqual([
    { type: "function_call_output", call_id: "a", output: [text(words("Two.")), image, text(ZIP)] },
    {
      type: "function_call_output",
      call_id: "b",
      output: [text(words("A page.")), pdf, text(GONE), text(BEEP)],
    },
    { type: "function_call_output", call_id: "c", output: [text(FAILED), image] },
  ]);
});

test("Chat Completions gets them behind all results, each under a line that says whose it is", () => {
  const image = { type: "image_url", image_url: { url: dataUrl("image/png", PNG) } };
  const pdf = { type: "file", file: { filename: "paper.pdf", file_data: dataUrl("application/pdf", PDF) } };
  const message = (name: string, call: string) => ({
    type: "text",
    text: `[file ${name}, given by execute in the call ${call}]`,
  });
  const { messages } = buildChatRequest(
    request,
    { kind: "openai", origin: undefined },
    openaiChatOptionsSchema.parse({}),
  );
  expect(messages.slice(-4)).toEqual([
    { role: "tool", tool_call_id: "a", content: `${words("Two.")}\n[file dot.png follows]\n${ZIP}` },
    {
      role: "tool",
      tool_call_id: "b",
      content: `${words("A page.")}\n[file paper.pdf follows]\n${GONE}\n${BEEP}`,
    },
    { role: "tool", tool_call_id: "c", content: `${FAILED}\n[file shot.png follows]` },
    {
      role: "user",
      content: [
        message("dot.png", "a"),
        image,
        message("paper.pdf", "b"),
        pdf,
        message("shot.png", "c"),
        image,
      ],
    },
  ]);
});

test("a Chat Completions server without image support gets their descriptions in the results, and nothing follows", () => {
  const options = compatibleChatOptionsSchema.parse({ acceptsImages: false });
  const { messages } = buildChatRequest(request, { kind: "openai_compatible", origin: undefined }, options);
  expect(
    messages
      .slice(-3)
      .map(({ role, content }) => [role, (typeof content === "string" ? content : "").split("\n").slice(1)]),
  ).toEqual([
    ["tool", [expect.stringContaining("dot.png (image/png"), ZIP]],
    ["tool", [expect.stringContaining("paper.pdf (application/pdf"), GONE, BEEP]],
    ["tool", [SHOT]],
  ]);
});

const inline = (mimeType: string, bytes: Uint8Array) => ({ inlineData: { mimeType, data: base64(bytes) } });
const response = (id: string, fields: object, parts?: object[]) => ({
  functionResponse: { id, name: "execute", response: fields, ...(parts && { parts }) },
});
const beside = (name: string, id: string) => ({ text: `[file ${name}, given by execute in the call ${id}]` });
const sound = inline("audio/mpeg", Buffer.from("ID3\u0003"));

test("Gemini 3 gets them within the responses, and those it does not accept there beside them", () => {
  const contents = buildGoogleRequest({ ...request, model: "gemini-3.8-flash" }).contents as unknown[];
  expect(contents.at(-1)).toEqual({
    role: "user",
    parts: [
      response("a", { output: { output: "Two.", exitCode: 0 }, files: [ZIP] }, [inline("image/png", PNG)]),
      response("b", { output: { output: "A page.", exitCode: 0 }, files: [GONE] }, [
        inline("application/pdf", PDF),
      ]),
      response("c", { error: "no screen" }, [inline("image/png", PNG)]),
      beside("beep.mp3", "b"),
      sound,
    ],
  });
});

test("Gemini 2.5 gets them behind all responses", () => {
  const contents = buildGoogleRequest({ ...request, model: "gemini-2.5-pro" }).contents as unknown[];
  expect(contents.at(-1)).toEqual({
    role: "user",
    parts: [
      response("a", { output: { output: "Two.", exitCode: 0 }, files: [ZIP] }),
      response("b", { output: { output: "A page.", exitCode: 0 }, files: [GONE] }),
      response("c", { error: "no screen" }),
      beside("dot.png", "a"),
      inline("image/png", PNG),
      beside("paper.pdf", "b"),
      inline("application/pdf", PDF),
      beside("beep.mp3", "b"),
      sound,
      beside("shot.png", "c"),
      inline("image/png", PNG),
    ],
  });
});
