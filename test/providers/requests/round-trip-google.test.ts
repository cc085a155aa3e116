/** Round trip of Gemini's contents: through the reader, the message, the repair and the next request. */
import type { GenerateContentResponse, Part } from "@google/genai";
import fc from "fast-check";
import { expect, test } from "vitest";
import { MessageAccumulator } from "../../../src/engine/turn/accumulate.js";
import { repairPrompt } from "../../../src/engine/prompt/repair.js";
import { buildGoogleRequest } from "../../../src/providers/google/prompt.js";
import { createGoogleReader } from "../../../src/providers/google/stream.js";
import { request, text, user } from "./prompts.js";

const MODEL = "gemini-3.8-flash";
const SENTINEL = "skip_thought_signature_validator";

/** The model's contents in the next request after it streamed these parts, one in each event. */
function roundTrip(parts: Part[]): unknown {
  const reader = createGoogleReader(MODEL);
  const message = new MessageAccumulator();
  const events = [...parts.map((part) => ({ content: { parts: [part] } })), { finishReason: "STOP" }];
  for (const candidate of events) {
    const response = { candidates: [candidate] } as GenerateContentResponse;
    for (const part of reader.read(response)) message.add(part);
  }
  for (const part of reader.end()) message.add(part);
  const stored = JSON.parse(JSON.stringify(message.parts())) as ReturnType<MessageAccumulator["parts"]>;
  const history = repairPrompt([user(text("go")), { role: "assistant", parts: stored }, user(text("on"))]);
  const { contents } = buildGoogleRequest(request({ model: MODEL, messages: history }));
  const turns = Array.isArray(contents) ? (contents as { role: string; parts: Part[] }[]) : [];
  return turns.flatMap((turn) => (turn.role === "model" ? turn.parts : []));
}

/**
 * Unsigned thoughts are for users, neighbouring unsigned texts are one, and a first call that lacks its signature gets
 * a stand-in.
 */
function expected(parts: Part[]): Part[] {
  const result: Part[] = [];
  let hasCall = false;
  let isTextOpen = false;
  for (const part of parts) {
    const { thought, text: words = "", thoughtSignature, functionCall } = part;
    const last = result.at(-1);
    if (functionCall) {
      const signature = thoughtSignature ?? (hasCall ? undefined : SENTINEL);
      result.push({ functionCall, ...(signature === undefined ? {} : { thoughtSignature: signature }) });
      hasCall = true;
      isTextOpen = false;
    } else if (thought === true) {
      if (thoughtSignature !== undefined) result.push(part);
      isTextOpen = false;
    } else if (thoughtSignature !== undefined) {
      result.push(part);
      isTextOpen = false;
    } else if (isTextOpen && last) last.text = `${last.text}${words}`;
    else {
      result.push({ text: words });
      isTextOpen = true;
    }
  }
  return result;
}

const words = fc.stringMatching(/^[a-zé🌍 ]{0,5}[a-z🌍]$/u);
const signature = fc.base64String({ minLength: 4, maxLength: 8 });
const signed = (part: fc.Arbitrary<Part>) =>
  fc.tuple(part, signature).map(([it, thoughtSignature]) => ({ ...it, thoughtSignature }));
const plainText: fc.Arbitrary<Part> = words.map((it) => ({ text: it }));
const thoughts: fc.Arbitrary<Part> = words.map((it) => ({ text: it, thought: true }));
const call: fc.Arbitrary<Part> = fc
  .record({ id: fc.uuid(), args: fc.dictionary(words, words) })
  .map((it) => ({ functionCall: { ...it, name: "execute" } }));

test("every part that matters goes back, with its own signature", () => {
  const part = fc.oneof(
    plainText,
    signed(plainText),
    signed(fc.constant({ text: "" })),
    thoughts,
    signed(thoughts),
    signed(fc.constant({ text: "", thought: true })),
    call,
    signed(call),
  );
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 12 }), (parts) => {
      expect(roundTrip(parts)).toEqual(expected(parts));
    }),
    { numRuns: 1_000 },
  );
});
