import { expect, test } from "vitest";
import { checkedMediaType, plainMediaType } from "./file-types.js";

const bytes = (latin1: string) => Buffer.from(latin1, "latin1");
const PNG = bytes("\x89PNG\r\n\x1a\n....");

test.each([
  ["image/png", PNG, "image/png"],
  ["IMAGE/PNG; charset=binary", PNG, "image/png"],
  ["image/jpg", bytes("\xff\xd8\xff\xe0"), "image/jpeg"],
  ["image/gif", bytes("GIF89a"), "image/gif"],
  ["image/webp", bytes("RIFF\x10\x00\x00\x00WEBPVP8 "), "image/webp"],
  ["audio/x-wav", bytes("RIFF\x10\x00\x00\x00WAVEfmt "), "audio/wav"],
  ["audio/mp3", bytes("ID3\x03"), "audio/mpeg"],
  ["audio/mpeg", bytes("\xff\xfb\x90"), "audio/mpeg"],
  ["audio/ogg", bytes("OggS\x00"), "audio/ogg"],
  ["application/pdf", bytes("%PDF-1.4\n"), "application/pdf"],
])("a correctly declared file keeps its type: %s", (claimed, content, stored) => {
  expect(checkedMediaType(claimed, content)).toBe(stored);
});

test("a JPEG declared as a PNG is stored as a JPEG", () => {
  expect(checkedMediaType("image/png", bytes("\xff\xd8\xff\xe0"))).toBe("image/jpeg");
});

test.each([
  ["image/png", bytes("<svg onload=alert(1)>")],
  ["image/png", bytes("\x89PN")],
  ["image/webp", bytes("RIFF")],
  ["application/pdf", bytes("PDF-1.4")],
  ["audio/wav", bytes("")],
])("what is called %s and is none is a file of unknown type", (claimed, content) => {
  expect(checkedMediaType(claimed, content)).toBe("application/octet-stream");
});

test("types that magic bytes do not identify are accepted as declared", () => {
  expect(checkedMediaType("text/csv; header=present", PNG)).toBe("text/csv");
  expect(checkedMediaType("application/zip", bytes(""))).toBe("application/zip");
});

test.each(["", "png", "image/", "/png", "image/png\r\nx: y", "a/b/c", `${"x".repeat(200)}/y`, "imäge/png"])(
  "the media type %j is nonsense, so the type is unknown",
  (mediaType) => {
    expect(plainMediaType(mediaType)).toBe("application/octet-stream");
  },
);
