/** Round trip of Anthropic's blocks: through the reader, the stored message and the next request. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/domain/common/json.js";
import { repairPrompt } from "../../../src/engine/prompt/repair.js";
import { MessageAccumulator } from "../../../src/engine/turn/accumulate.js";
import { toAnthropicMessages } from "../../../src/providers/anthropic/prompt.js";
import { user, text as words } from "./prompts.js";
import { replay } from "../replays/replay.js";
import { block, ended, start, stop, text, type StreamCase } from "../streams/anthropic/events.js";
import { frame } from "../streams/anthropic/framing.js";
import { citation, found, page, SEARCH_CASES } from "../streams/anthropic/search.js";
import { REASONING_CASES } from "../streams/anthropic/tools.js";

/** The assistant's blocks in the request after this answer. */
async function sentBack(events: StreamCase["events"]): Promise<unknown[]> {
  const { parts } = await replay(
    "anthropic",
    events.map((event) => frame(event as JsonObject)),
  );
  const message = new MessageAccumulator();
  for (const part of parts) message.add(part);
  // Stored and read again, as JSON.
  const stored = JSON.parse(JSON.stringify(message.parts())) as ReturnType<typeof message.parts>;
  const history = [user(words("why?")), { role: "assistant" as const, parts: stored }, user(words("sure?"))];
  const messages = toAnthropicMessages(repairPrompt(history));
  return messages.flatMap(({ role, content }) => (role === "assistant" ? content : []));
}

const stringOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** The blocks as the vendor would return them unstreamed, assembled independently of the adapter. */
function blocksOf(events: StreamCase["events"]): JsonObject[] {
  const blocks: JsonObject[] = [];
  for (const event of events as JsonObject[]) {
    const current = blocks.at(-1) ?? {};
    const change = (event.delta ?? {}) as Record<string, string>;
    if (event.type === "content_block_start") blocks.push({ ...(event.content_block as JsonObject) });
    if (change.type === "text_delta") current.text = `${stringOf(current.text)}${change.text}`;
    if (change.type === "thinking_delta")
      current.thinking = `${stringOf(current.thinking)}${change.thinking}`;
    if (change.type === "signature_delta")
      current.signature = `${stringOf(current.signature)}${change.signature}`;
    if (change.type === "input_json_delta") current.json = `${stringOf(current.json)}${change.partial_json}`;
    if (change.type === "citations_delta")
      current.citations = [
        ...((current.citations ?? []) as JsonObject[]),
        change.citation as unknown as JsonObject,
      ];
  }
  return blocks
    .map(({ json, citations, ...rest }) => ({
      ...rest,
      ...(json === undefined ? {} : { input: JSON.parse(stringOf(json)) as JsonObject }),
      ...(Array.isArray(citations) && citations.length > 0 ? { citations } : {}),
    }))
    .filter(({ type, text: blockText }: JsonObject) => type !== "text" || stringOf(blockText).trim() !== "");
}

const without =
  (...names: string[]) =>
  (given: StreamCase) =>
    !names.some((name) => given.name.startsWith(name));

describe("searches and citations", () => {
  test.each(SEARCH_CASES)("$name", async ({ events }) => {
    expect(await sentBack(events)).toEqual(blocksOf(events));
  });

  test("a long answer with many searches, citations and blank lines between them", async () => {
    const events = [
      start(),
      ...text(0, "I look."),
      ...Array.from({ length: 10 }, (_, turn) => {
        const at = 1 + turn * 5;
        const id = `srvtoolu_${turn}`;
        return [
          block(at, { type: "server_tool_use", id, name: "web_search", input: { query: id } }),
          stop(at),
          ...found(at + 1, id, [page("a"), page("b")]),
          block(at + 2, {
            type: "text",
            text: "Cited.",
            citations: [citation("a"), citation("b", `${turn}`)],
          }),
          stop(at + 2),
          ...text(at + 3, "\n\n"),
          block(at + 4, { type: "text", text: "Cited, too.", citations: [citation("b")] }),
          stop(at + 4),
        ];
      }).flat(),
      ...ended,
    ];
    expect(await sentBack(events)).toEqual(blocksOf(events));
  });
});

describe("thoughts", () => {
  // The vendor accepts no thinking without a signature and no tool calls without results.
  test.each(REASONING_CASES.filter(without("a thought without", "thoughts between")))(
    "$name",
    async ({ events }) => {
      expect(await sentBack(events)).toEqual(blocksOf(events));
    },
  );
});
