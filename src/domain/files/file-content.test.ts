// Verification of uploads against their declared media type.
import { expect, test } from "vitest";
import { verifyContent } from "./file-content.js";

const text = (mediaType: string | null = null) => ({ kind: "text" as const, mediaType });
const binary = (mediaType: string | null = null) => ({ kind: "binary" as const, mediaType });

test.each([
  ["text/markdown", text(), "text/markdown"],
  ["Text/CSV; charset=utf-8", text(), "text/csv"],
  ["image/svg+xml", text("application/xml"), "image/svg+xml"],
  ["text/xml", text("application/xml"), "application/xml"],
  ["text/plain", text("application/rtf"), "text/plain"],
  ["application/rtf", text("application/rtf"), "application/rtf"],
  ["application/x-perl", text(), "text/plain"],
  ["application/pdf", text("application/pdf"), "application/pdf"],
  ["application/octet-stream", text("application/pdf"), "application/pdf"],
  ["application/octet-stream", binary("image/png"), "image/png"],
  ["application/octet-stream", binary(), "application/octet-stream"],
  ["nonsense", binary("video/mp4"), "video/mp4"],
  ["image/jpg", binary("image/jpeg"), "image/jpeg"],
  ["application/x-gzip", binary("application/gzip"), "application/gzip"],
  ["application/zip", binary("application/epub+zip"), "application/epub+zip"],
  ["application/msword", binary("application/x-cfb"), "application/x-cfb"],
  ["application/x-own", binary(), "application/octet-stream"],
  ["audio/mp4", binary("video/mp4"), "video/mp4"],
  ["video/quicktime", binary("video/mp4"), "video/mp4"],
])("declared as %s, found as %j: stored as %s", (declared, found, mediaType) => {
  expect(verifyContent(declared, found)).toEqual({ mediaType });
});

test.each([
  ["text/plain", text("application/pdf"), "application/pdf"],
  ["image/png", text(), "text"],
  ["application/zip", text(), "text"],
  ["application/pdf", text(), "text"],
  ["video/mp4", text(), "text"],
  ["text/plain", binary(), "not UTF-8 text"],
  ["application/json", binary("image/png"), "image/png"],
  ["image/png", binary(), "something else"],
  ["application/pdf", binary(), "something else"],
  ["image/png", binary("image/jpeg"), "image/jpeg"],
  ["image/heic", binary("image/avif"), "image/avif"],
  ["application/pdf", binary("application/zip"), "application/zip"],
  ["application/x-own", binary("image/png"), "image/png"],
  ["image/heic", binary("application/x-msdownload"), "application/x-msdownload"],
  ["audio/ogg", binary("audio/mpeg"), "audio/mpeg"],
])("declared as %s, found as %j: refused as %s", (declared, found, is) => {
  expect(verifyContent(declared, found)).toEqual({
    refused: `It was declared as ${declared}, but is ${is}.`,
  });
});
