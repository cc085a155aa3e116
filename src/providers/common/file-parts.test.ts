/** Uploaded files as models read them. */
import { expect, test } from "vitest";
import { fileDataUrl, filePlaceholder, isImage, isPdf, textOfFile } from "./file-parts.js";

const file = (mediaType: string, name = "a") =>
  ({ type: "file", fileId: "f", name, mediaType, sizeBytes: 3 }) as const;
const bytes = (text: string) => new TextEncoder().encode(text);

test("a file that cannot be shown is named, with the reason", () => {
  expect(filePlaceholder(file("image/png", "x.png"), "missing")).toBe(
    "[file x.png (image/png, 3 bytes) is not available]",
  );
  expect(filePlaceholder(file("video/mp4", "half \ud800"), "unsupported")).toBe(
    "[file half \ufffd (video/mp4, 3 bytes) cannot be shown to this model]",
  );
});

test.each([
  "text/plain",
  "Text/Markdown; charset=utf-8",
  "application/json",
  "application/ld+json",
  "image/svg+xml",
])("%s is read as text, with its name", (mediaType) => {
  expect(textOfFile(file(mediaType, "notes.md"), bytes("größer\n"))).toBe(
    "[file] notes.md\n```\ngrößer\n```",
  );
});

test("a text with fences of its own stays within ours, and broken bytes are no trouble", () => {
  expect(textOfFile(file("text/plain"), bytes("````\nx"))).toBe("[file] a\n`````\n````\nx\n`````");
  expect(textOfFile(file("text/plain"), Uint8Array.from([0xff, 0x41]))).toBe("[file] a\n```\n\ufffdA\n```");
});

test.each(["application/zip", "application/octet-stream", "image/png", ""])("%j is no text", (mediaType) => {
  expect(textOfFile(file(mediaType), bytes("x"))).toBeUndefined();
});

test("images and PDFs are known by their type, however it is written", () => {
  expect(["image/png", "IMAGE/JPG", "image/webp", "image/gif"].map((type) => isImage(file(type)))).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(["image/svg+xml", "image/tiff", "application/pdf"].map((type) => isImage(file(type)))).toEqual([
    false,
    false,
    false,
  ]);
  expect(isPdf(file("application/PDF; x=y"))).toBe(true);
  expect(fileDataUrl(file("image/jpg"), bytes("abc"))).toBe("data:image/jpeg;base64,YWJj");
});

test("a very large text is cut at a character, and says so", () => {
  const cut = textOfFile(file("text/plain"), bytes("```\n".repeat(500_000))) ?? "";
  expect(cut).toHaveLength(131_130);
  expect(cut.endsWith("\n````\n[the first 131072 of its 2000000 bytes]")).toBe(true);
  const umlauts = textOfFile(file("text/plain"), bytes(`x${"\u00e4".repeat(65_536)}`)) ?? "";
  expect(umlauts).not.toContain("\ufffd");
});
