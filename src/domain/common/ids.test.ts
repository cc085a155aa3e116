import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeId, encodeId, kindOf, type IdKind } from "./ids.js";

const KINDS: IdKind[] = ["chat", "msg", "que", "user", "prov", "model", "ws", "audit"];
const uuid = "0f8fad5b-d9cb-469f-a165-70867728950e";
const valueOf = (kind: IdKind) => (kind === "msg" || kind === "audit" ? "42" : uuid);

test.each(KINDS)("a %s id comes back as the database's value and names its kind, and no other", (kind) => {
  const id = encodeId(kind, valueOf(kind));
  const readAs = Object.fromEntries(KINDS.map((other) => [other, decodeId(other, id)]));
  const expected = Object.fromEntries(KINDS.map((other) => [other, other === kind ? valueOf(kind) : null]));
  expect({ id, kind: kindOf(id), readAs }).toEqual({
    id: `${kind}_${valueOf(kind)}`,
    kind,
    readAs: expected,
  });
});

describe("no id is", () => {
  test.each([
    ["a bare value", uuid],
    ["a kind without a value", "chat_"],
    ["an unknown kind", `desktop_${uuid}`],
    ["a number where a UUID belongs", "chat_42"],
    ["a UUID where a number belongs", `msg_${uuid}`],
    ["a UUID in capitals, which would be a second name for one thing", `chat_${uuid.toUpperCase()}`],
    ["zero", "msg_0"],
    ["a number with a leading zero", "msg_042"],
    ["a negative number", "msg_-1"],
    ["a number that JavaScript cannot hold exactly", "msg_9007199254740993"],
    ["text after the value", `chat_${uuid} `],
    ["a line break after the value", `chat_${uuid}\n`],
    ["a name of every object", "constructor_1"],
  ])("%s", (_name, id) => {
    expect(kindOf(id)).toBeNull();
  });

  test("random text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(kindOf(text)).toBeNull();
      }),
    );
  });
});
