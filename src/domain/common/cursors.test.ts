import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeEventCursor, decodePageCursor, encodeEventCursor, encodePageCursor } from "./cursors.js";

const number = fc.nat({ max: 999_999_999_999_999 });
const eventCursor = fc.record({
  position: fc.record({ version: number, stage: number, messageId: number }),
  generation: fc.option(fc.record({ historyVersion: number, attempt: number })),
  sequence: number,
});
const encoded = (text: string) => Buffer.from(text).toString("base64url");

describe("an event cursor", () => {
  test("restores any position of a reader", () => {
    fc.assert(
      fc.property(eventCursor, (cursor) => {
        expect(decodeEventCursor(encodeEventCursor(cursor))).toEqual(cursor);
      }),
    );
  });

  test("is safe to put into a URL", () => {
    fc.assert(
      fc.property(eventCursor, (cursor) => {
        expect(encodeEventCursor(cursor)).toMatch(/^[A-Za-z0-9_-]+$/);
      }),
    );
  });

  test("that is malformed is null, never an exception", () => {
    const nonsense = fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.string().map(encoded));
    fc.assert(
      fc.property(nonsense, (text) => {
        expect(decodeEventCursor(text)).toBeNull();
      }),
    );
  });

  test.each([
    ["empty text", ""],
    ["another version", encoded("v2|1|0|0||0")],
    ["a field too few", encoded("v1|1|0|0|")],
    ["a field too many", encoded("v1|1|0|0||0|")],
    ["a negative version", encoded("v1|-1|0|0||0")],
    ["a fraction", encoded("v1|1.5|0|0||0")],
    ["a number beyond the exact ones", encoded("v1|1000000000000000|0|0||0")],
    ["an empty number", encoded("v1||0|0||0")],
    ["a generation that is none", encoded("v1|1|0|0|gen_x_1|0")],
    ["digits of another script", encoded("v1|١|0|0||0")],
    ["a page cursor", encodePageCursor("activity", "1", "2")],
    ["ten megabytes", "A".repeat(10_000_000)],
    ["padding", `${encoded("v1|1|0|0||0")}=`],
  ])("of %s is null", (_name, text) => {
    expect(decodeEventCursor(text)).toBeNull();
  });
});

describe("a page cursor", () => {
  const word = fc.string().filter((text) => !text.includes("|"));

  test("restores the sort key and the id, for its own order only", () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 100 }).filter((text) => !text.includes("|")),
        word,
        (key, id) => {
          const cursor = encodePageCursor("activity", key, id);
          expect([decodePageCursor("activity", cursor), decodePageCursor("title", cursor)]).toEqual([
            { key, id },
            null,
          ]);
        },
      ),
    );
  });

  test("that is malformed is null, never an exception", () => {
    const nonsense = fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.string().map(encoded));
    fc.assert(
      fc.property(nonsense, (text) => {
        expect(decodePageCursor("activity", text)).toBeNull();
      }),
    );
  });
});
