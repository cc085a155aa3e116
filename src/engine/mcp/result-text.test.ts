import { expect, test } from "vitest";
import { resultText } from "./result-text.js";

test("text is unchanged, and everything else is named", () => {
  const parts = [
    { type: "text" as const, text: "words" },
    { type: "text" as const, text: "" },
    { type: "image" as const, data: "aW1hZ2U=", mediaType: "image/png" },
    { type: "audio" as const, data: "", mediaType: "audio/wav" },
    { type: "resource" as const, uri: "a:1", mediaType: "text/plain", text: "inside" },
    { type: "resource" as const, uri: "a:2", data: "emlw" },
    { type: "resource" as const, uri: "a:3" },
    { type: "resource-link" as const, uri: "a:4", name: "Link", description: "", mediaType: "text/html" },
    { type: "unknown" as const, kind: "hologram" },
  ];
  expect(resultText({ parts, isError: false, structuredContent: { a: 1 } }).split("\n")).toEqual([
    "words",
    "[image: image/png, 5 bytes, file image-3.png]",
    "[audio: audio/wav, empty]",
    "[resource: a:1 (text/plain)]",
    "inside",
    "[resource: a:2, 3 bytes, file a:2]",
    "[resource: a:3]",
    "[resource link: a:4, Link, text/html]",
    "[content of the unknown kind hologram, not shown]",
  ]);
});

test("structured content is used where there is no text", () => {
  expect(resultText({ parts: [], structuredContent: { a: [1] }, isError: false })).toBe('{"a":[1]}');
  expect(resultText({ parts: [], isError: false })).toBe("");
});
