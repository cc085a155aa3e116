import { expect, test } from "vitest";
import { resultFiles } from "./result-files.js";

const data = Buffer.from("bytes").toString("base64");

test("media and binary resources are files, named by their index or their URI; texts and links are not", () => {
  const files = resultFiles([
    { type: "text", text: "words" },
    { type: "image", data, mediaType: "image/jpeg" },
    { type: "audio", data, mediaType: "audio/x-own" },
    { type: "image", data: "", mediaType: "image/png" },
    { type: "resource", uri: "file:///notes/plan.pdf?x=1", data, mediaType: "application/pdf" },
    { type: "resource", uri: "odd:", data },
    { type: "resource", uri: "a:1", text: "words", data },
    { type: "resource-link", uri: "a:2", name: "Link" },
  ]);
  expect(files.map(({ name, mediaType, bytes }) => [name, mediaType, Buffer.from(bytes).toString()])).toEqual(
    [
      ["image-2.jpg", "image/jpeg", "bytes"],
      ["audio-3", "audio/x-own", "bytes"],
      ["plan.pdf", "application/pdf", "bytes"],
      ["odd:", "application/octet-stream", "bytes"],
    ],
  );
});
