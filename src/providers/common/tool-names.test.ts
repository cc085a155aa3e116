import { describe, expect, test } from "vitest";
import { toolNames, withLegalNames } from "./tool-names.js";
import type { ModelRequest, ModelStreamPart } from "../types.js";

const LEGAL = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/;
const STRANGE = [
  "functions.execute",
  "",
  "$x",
  "x".repeat(300),
  "1st",
  "_x",
  "-x",
  "å",
  "a b",
  "a.b",
  "\0\uD83D",
];

describe("the codec", () => {
  test("legal names stay unchanged and need no mapping", () => {
    expect(toolNames(["execute", "mcp__read-file", "x".repeat(64), "A1"])).toBeUndefined();
  });

  test("every other name is mapped to a unique legal one, and back", () => {
    const names = toolNames([...STRANGE, "execute"]);
    const legal = STRANGE.map((name) => names?.toVendor(name) ?? "");
    for (const name of legal) expect(name).toMatch(LEGAL);
    expect(new Set(legal).size).toBe(STRANGE.length);
    expect(legal.map((name) => names?.fromVendor(name))).toEqual(STRANGE);
    expect([names?.toVendor("execute"), names?.fromVendor("made.up")]).toEqual(["execute", "made.up"]);
  });

  test("a name's form does not depend on the others, so that cached prompts hold", () => {
    const alone = toolNames(["a.b"])?.toVendor("a.b");
    expect(toolNames([...STRANGE, "zzz"])?.toVendor("a.b")).toBe(alone);
    expect(alone).toBe("a_b_2e7336dc");
  });

  test("unless another tool has just this name", () => {
    const names = toolNames(["a.b", "a_b_2e7336dc"]);
    const form = names?.toVendor("a.b") ?? "";
    expect([form === "a_b_2e7336dc", names?.toVendor("a_b_2e7336dc")]).toEqual([false, "a_b_2e7336dc"]);
    expect([names?.fromVendor(form), names?.fromVendor("a_b_2e7336dc")]).toEqual(["a.b", "a_b_2e7336dc"]);
  });

  test("a reserved name is the vendor's", () => {
    const names = toolNames(["web_search"], ["web_search"]);
    expect(names?.fromVendor(names.toVendor("web_search"))).toBe("web_search");
    expect(names?.toVendor("web_search")).toMatch(/^web_search_[0-9a-f]{8}$/);
  });
});

describe("a provider with legal names", () => {
  const call = (toolName: string) => ({
    type: "tool-call" as const,
    toolCallId: "a",
    toolName,
    arguments: {},
  });
  const tool = (name: string) => ({ name, description: "", inputSchema: { type: "object" } });

  /** The request as the vendor receives it, and the tool names callers receive when the answer calls every tool. */
  async function ask(request: Partial<ModelRequest>) {
    let seen: ModelRequest | undefined;
    const provider = withLegalNames({
      async *stream(input): AsyncGenerator<ModelStreamPart, void, undefined> {
        seen = input;
        for (const { name } of input.tools) yield call(name);
        yield { ...call("web_search"), isProviderExecuted: true };
      },
      findContextLimit: () => Promise.resolve(null),
      listModels: () => Promise.resolve(null),
    });
    const whole = { model: "m", system: "", messages: [], tools: [], maxOutputTokens: 1, ...request };
    const reported: string[] = [];
    for await (const part of provider.stream(whole, new AbortController().signal))
      if (part.type === "tool-call") reported.push(part.toolName);
    return { seen, reported, whole };
  }

  test("passes what is legal on as it is", async () => {
    const { seen, whole } = await ask({ tools: [tool("execute")] });
    expect(seen).toBe(whole);
  });

  test("the same form stands in tools, calls and results; answers come back by their names", async () => {
    const result = {
      type: "tool-result" as const,
      toolCallId: "a",
      toolName: "my tool",
      result: "",
      isError: false,
    };
    const searched = { ...call("web_search"), isProviderExecuted: true };
    const { seen, reported } = await ask({
      options: { webSearch: {} },
      tools: [tool("my tool"), tool("web_search")],
      messages: [
        { role: "assistant", parts: [call("my tool"), call("nobody's"), searched] },
        { role: "tool", parts: [result] },
      ],
    });
    const [first, second] = seen?.tools.map(({ name }) => name) ?? [];
    expect([first, second]).toEqual([
      expect.stringMatching(LEGAL),
      expect.stringMatching(/^web_search_\w{8}$/),
    ]);
    expect(seen?.messages).toMatchObject([
      {
        parts: [{ toolName: first }, { toolName: expect.stringMatching(LEGAL) }, { toolName: "web_search" }],
      },
      { parts: [{ toolName: first }] },
    ]);
    expect(reported).toEqual(["my tool", "web_search", "web_search"]);
  });
});
