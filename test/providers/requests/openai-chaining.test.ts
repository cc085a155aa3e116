/**
 * Continuing from an answer that the vendor stores: only new messages are sent, and the whole history when the vendor
 * no longer has it.
 */
import { afterEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/domain/common/json.js";
import { startDemoModel } from "../../../src/demo-model/server.js";
import { createProvider } from "../../../src/providers/registry.js";
import type { ModelRequest, ModelStreamPart, ProviderSettings } from "../../../src/providers/types.js";
import { serveStreams } from "../replays/replay-server.js";
import { answer, assistant, call, text, tool, user } from "./prompts.js";
import { completed, message } from "../streams/openai/responses-events.js";
import { collect, REQUEST } from "../support.js";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

const STORE = { store: true };
const result = tool({ ...answer, result: "ok", isError: false });

async function connect(baseUrl: string, kind: ProviderSettings["kind"] = "openai") {
  const settings = { kind, displayName: "Acme", apiKey: "k", baseUrl, openaiApi: "responses" as const };
  const provider = await createProvider(settings);
  return (messages: ModelRequest["messages"], options: JsonObject = STORE) =>
    collect(provider.stream({ ...REQUEST, messages, options }, new AbortController().signal));
}

async function demo() {
  const model = await startDemoModel({
    host: "127.0.0.1",
    port: 0,
    // Echoes the effective input in order, whether it was sent or stored.
    script: ({ turns }) => ({
      text: turns.map((turn) => (turn.role === "user" ? turn.text : "·")).join(" "),
    }),
  });
  closers.push(() => model.close());
  return { model, run: await connect(`${model.url}/v1`) };
}

const idOf = (parts: ModelStreamPart[]) => parts.find((part) => part.type === "response")?.id;
const textOf = (parts: ModelStreamPart[]) =>
  parts.flatMap((part) => (part.type === "text-delta" ? [part.text] : [])).join("");

describe("with `store` on", () => {
  test("the next turn continues from the last answer and sends only new messages", async () => {
    const { model, run } = await demo();
    const responseId = idOf(await run([user(text("one"))]));
    if (responseId === undefined) throw new Error("no response id");
    const parts = await run([user(text("one")), { ...assistant(text("x")), responseId }, user(text("two"))]);
    expect(textOf(parts)).toBe("one · two");
    expect(model.requests[1]?.body).toMatchObject({
      previous_response_id: responseId,
      instructions: "Be brief.",
      store: true,
      input: [{ role: "user", content: "two" }],
    });
    expect(model.requests[1]?.body).not.toHaveProperty("include");
  });

  test("the results of tools are enough to go on", async () => {
    const server = await serveStreams([[...message({ deltas: ["ok"] }), completed()]]);
    closers.push(server.close);
    const run = await connect(`${server.url}/v1`);
    await run([user(text("go")), { ...assistant(call), responseId: "resp_1" }, result]);
    expect(server.requests[0]?.body).toMatchObject({
      previous_response_id: "resp_1",
      input: [{ type: "function_call_output", call_id: "a_1_773232abe9343f0e", output: "ok" }],
    });
  });

  test("an answer that the vendor has forgotten is followed by the whole history, once", async () => {
    const { model, run } = await demo();
    const history = [
      user(text("one")),
      { ...assistant(text("x")), responseId: "resp_gone" },
      user(text("two")),
    ];
    expect(textOf(await run(history))).toBe("one · two");
    expect(model.requests.map(({ body }) => body)).toMatchObject([
      {
        input: [
          { role: "user", content: "one" },
          { role: "assistant", content: "x" },
          { role: "user", content: "two" },
        ],
      },
    ]);
    expect(model.requests[0]?.body).not.toHaveProperty("previous_response_id");
  });

  test.each([
    ["an answer that has no id", [user(text("a")), assistant(text("b")), user(text("c"))]],
    [
      "an older answer that has one",
      [
        user(text("a")),
        { ...assistant(text("b")), responseId: "resp_1" },
        user(text("c")),
        assistant(text("d")),
        user(text("e")),
      ],
    ],
    ["nothing new to say", [user(text("a")), { ...assistant(text("b")), responseId: "resp_1" }]],
    [
      "only blanks to say",
      [user(text("a")), { ...assistant(text("b")), responseId: "resp_1" }, user(text(" "))],
    ],
  ] as [string, ModelRequest["messages"]][])("%s: the whole history is sent", async (_, messages) => {
    const { model, run } = await demo();
    await run(messages);
    expect(model.requests[0]?.body).not.toHaveProperty("previous_response_id");
    expect(model.requests[0]?.body.input).toHaveLength(
      messages.filter(({ parts }) => JSON.stringify(parts).match(/"[a-e]"/)).length,
    );
  });

  test("reasoning is not sent again to the vendor that keeps it, nor are searches that stand on it", async () => {
    const { model, run } = await demo();
    const own = { openai: { itemId: "rs_1", encryptedContent: "enc" } };
    const search = { toolCallId: "ws_1", toolName: "web_search", isProviderExecuted: true } as const;
    await run([
      user(text("a")),
      assistant(
        { type: "reasoning", text: "hm", providerMetadata: own },
        { type: "tool-call", ...search, arguments: {}, providerMetadata: { openai: { itemId: "ws_1" } } },
        text("b"),
      ),
      user(text("c")),
    ]);
    expect(model.requests[0]?.body.input).toEqual([
      { role: "user", content: "a" },
      { role: "assistant", content: "b" },
      { role: "user", content: "c" },
    ]);
  });

  test("any other refusal is thrown, without a repetition", async () => {
    const refusal = JSON.stringify({
      error: { message: "odd field", code: "unknown_parameter", param: "x" },
    });
    const server = await serveStreams([[refusal]], { "content-type": "application/json" }, 400);
    closers.push(server.close);
    const run = await connect(`${server.url}/v1`);
    const history = [user(text("a")), { ...assistant(text("b")), responseId: "resp_1" }, user(text("c"))];
    await expect(run(history)).rejects.toMatchObject({ failure: { kind: "generic", isRetryable: false } });
    expect(server.requests).toHaveLength(1);
  });

  test("a vendor that loses every answer is asked twice, not forever", async () => {
    const refusal = JSON.stringify({ error: { message: "Response with id 'resp_1' not found.", code: 404 } });
    const server = await serveStreams([[refusal]], { "content-type": "application/json" }, 404);
    closers.push(server.close);
    const run = await connect(`${server.url}/v1`, "openai_compatible");
    const history = [user(text("a")), { ...assistant(text("b")), responseId: "resp_1" }, user(text("c"))];
    await expect(run(history)).rejects.toMatchObject({ failure: { kind: "config", httpStatus: 404 } });
    expect(server.requests.map(({ body }) => "previous_response_id" in body)).toEqual([true, false]);
  });
});

test("with `store` off nothing is stored, reported or continued", async () => {
  const { model, run } = await demo();
  const history = [user(text("a")), { ...assistant(text("b")), responseId: "resp_1" }, user(text("c"))];
  expect(idOf(await run(history, {}))).toBeUndefined();
  expect(model.requests[0]?.body).toMatchObject({ store: false, include: ["reasoning.encrypted_content"] });
  expect(model.requests[0]?.body).not.toHaveProperty("previous_response_id");
  expect(model.requests[0]?.body.input).toHaveLength(3);
});
