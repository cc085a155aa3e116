/** Conformance tests for every wire format: text, reasoning, usage, and the content of requests. */
import { describe, expect, test } from "vitest";
import type { Script } from "../../src/demo-model/script.js";
import { scaled } from "../support/scale.js";
import { connect, REQUEST, textOf, WIRES } from "./support.js";

describe.each(WIRES)("$wire", (row) => {
  const { isAnthropic, isResponses, isChat, isGoogle, start, runStep } = connect(row);

  test("text comes in its deltas, then the usage, then the finish", async () => {
    const usage = {
      inputTokens: 10,
      outputTokens: 7,
      reasoningTokens: 2,
      cacheReadTokens: 5,
      cacheWriteTokens: 0,
    };
    const parts = await runStep({ text: ["Hel", "lo ", "wörld 🌍"], usage });
    expect(parts.filter(({ type }) => type !== "usage")).toEqual([
      { type: "text-delta", text: "Hel" },
      { type: "text-delta", text: "lo " },
      { type: "text-delta", text: "wörld 🌍" },
      { type: "finish", reason: "stop" },
    ]);
    expect(parts.findLast(({ type }) => type === "usage")).toEqual({ type: "usage", usage });
  });

  test.runIf(isAnthropic || isResponses)("tokens written to the cache are counted apart", async () => {
    const usage = {
      inputTokens: 10,
      outputTokens: 7,
      reasoningTokens: 0,
      cacheReadTokens: 5,
      cacheWriteTokens: 90,
    };
    const parts = await runStep({ text: "hi", usage });
    expect(parts.findLast(({ type }) => type === "usage")).toEqual({ type: "usage", usage });
  });

  test("the request carries model, system, tools, history, limits and headers", async () => {
    const { demo, run } = await start([{ text: "hi" }]);
    await run({ ...REQUEST, headers: { "Parley-Chat-Id": "chat-1" } });
    const [seen] = demo.requests;
    expect(seen).toMatchObject({
      model: "some-model",
      system: "Be brief.",
      isStreaming: true,
      wantsUsage: true,
      turns: [{ role: "user", text: "hello" }],
      tools: REQUEST.tools.map(({ name, inputSchema }) => ({ name, inputSchema })),
    });
    expect(seen?.headers["parley-chat-id"]).toBe("chat-1");
    if (isGoogle) expect(seen?.headers["x-goog-api-key"]).toBe("secret-key");
    else if (row.kind === "azure_openai") expect(seen?.headers["api-key"]).toBe("secret-key");
    else expect(seen?.headers.authorization).toBe("Bearer secret-key");
    const limitName = isResponses
      ? "max_output_tokens"
      : isChat && row.kind !== "openai_compatible"
        ? "max_completion_tokens"
        : isGoogle
          ? "maxOutputTokens"
          : "max_tokens";
    const limits = isGoogle ? seen?.body.generationConfig : seen?.body;
    expect(limits).toMatchObject({ [limitName]: 4_000 });
  });

  test("reasoning is closed before the text, and goes back with what its vendor attached", async () => {
    const { demo, run } = await start([{ reasoning: "I think so", text: "yes" }, { text: "done" }]);
    const parts = await run();
    expect(textOf(parts, "reasoning-delta")).toBe("I think so");
    const textEnd = parts.find(({ type }) => type === "text-end");
    const signedText = textEnd?.type === "text-end" ? textEnd.providerMetadata : undefined;
    const end = parts.find(({ type }) => type === "reasoning-end");
    if (end?.type !== "reasoning-end") throw new Error("no reasoning-end");
    expect(parts.indexOf(end)).toBeLessThan(parts.findIndex(({ type }) => type === "text-delta"));
    await run({
      ...REQUEST,
      messages: [
        ...REQUEST.messages,
        {
          role: "assistant",
          parts: [
            { type: "reasoning", text: "I think so", providerMetadata: end.providerMetadata },
            { type: "text", text: "yes", providerMetadata: signedText },
          ],
        },
        { role: "user", parts: [{ type: "text", text: "sure?" }] },
      ],
    });
    const sent = JSON.stringify(demo.requests[1]?.body);
    const encoded = Buffer.from("demo:I think so").toString("base64");
    if (isAnthropic)
      expect(sent).toContain(`{"type":"thinking","thinking":"I think so","signature":"${encoded}"}`);
    if (isResponses) expect(sent).toContain(`"encrypted_content":"${encoded}"`);
    // This vendor signs the end of the answer and ignores the summary of its reasoning.
    if (isGoogle) expect(sent).toContain(`{"text":"yes"},{"text":"","thoughtSignature":"${encoded}"}`);
    if (row.kind === "openai_compatible") expect(sent).toContain('"reasoning_content":"I think so"');
    else if (isChat || isGoogle) expect(sent).not.toContain("I think so");
  });

  test.runIf(isAnthropic || isResponses)("reasoning that the vendor hides still goes back", async () => {
    const { demo, run } = await start([
      { reasoning: { text: "hidden", isRedacted: true }, text: "yes" },
      { text: "ok" },
    ]);
    const end = (await run()).find((part) => part.type === "reasoning-end");
    if (end === undefined) throw new Error("no reasoning-end");
    expect(end).toEqual({
      type: "reasoning-end",
      ...(isAnthropic ? { isRedacted: true } : {}),
      providerMetadata: expect.anything(),
    });
    const { providerMetadata } = end;
    await run({
      ...REQUEST,
      messages: [
        {
          role: "assistant",
          parts: [
            { type: "reasoning", text: "", isRedacted: true, providerMetadata },
            { type: "text", text: "yes" },
          ],
        },
        { role: "user", parts: [{ type: "text", text: "sure?" }] },
      ],
    });
    expect(JSON.stringify(demo.requests[1]?.body)).toContain(
      isAnthropic ? '"redacted_thinking"' : '"encrypted_content"',
    );
  });

  test.each([
    ["length", "length"],
    ["content-filter", "content-filter"],
  ] as const)("the finish reason %s is reported", async (finish, reason) => {
    expect((await runStep({ text: "hm", finish })).at(-1)).toEqual({ type: "finish", reason });
  });

  test("megabytes of text arrive whole", async () => {
    const chunk = `${"wörter 🌍 ".repeat(800)}\n`;
    const text = Array.from(
      { length: Math.ceil(scaled(20_000_000) / Buffer.byteLength(chunk)) },
      () => chunk,
    );
    const parts = await runStep({ text });
    expect(textOf(parts, "text-delta") === text.join("")).toBe(true);
    expect(parts.at(-1)).toEqual({ type: "finish", reason: "stop" });
  });

  test("fifty calls at once do not mix", async () => {
    const script: Script = ({ turns }) => ({
      text: `you said ${turns[0]?.role === "user" ? turns[0].text : ""}`,
      delayMs: 1,
    });
    const { run } = await start(script);
    const names = Array.from({ length: 50 }, (_, index) => `n${index}`);
    const answers = await Promise.all(
      names.map((text) => run({ ...REQUEST, messages: [{ role: "user", parts: [{ type: "text", text }] }] })),
    );
    expect(answers.map((parts) => textOf(parts, "text-delta"))).toEqual(
      names.map((name) => `you said ${name}`),
    );
  });
});
