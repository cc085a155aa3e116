/** The demo model as other programs use it: unstreamed answers, markers, named scripts, malformed requests, command. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, describe, expect, test } from "vitest";
import type { Script } from "../../src/demo-model/script.js";
import { type DemoModel, startDemoModel } from "../../src/demo-model/server.js";
import { SERVER_PROGRAM } from "../support/build.js";

const demos: DemoModel[] = [];
const children: ChildProcess[] = [];
afterEach(async () => {
  await Promise.all(demos.splice(0).map((demo) => demo.close()));
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

async function start(script?: Script): Promise<DemoModel> {
  const demo = await startDemoModel({
    host: "127.0.0.1",
    port: 0,
    ...(script === undefined ? {} : { script }),
  });
  demos.push(demo);
  return demo;
}

const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url, { method: "POST", headers, body: typeof body === "string" ? body : JSON.stringify(body) });
const ask = (content: string, more = {}) => ({
  model: "demo",
  max_tokens: 9,
  messages: [{ role: "user", content }],
  ...more,
});

/** The answer's text, unstreamed, through Chat Completions. */
async function textOf(response: Response): Promise<unknown> {
  const body = (await response.json()) as { choices: { message: { content: unknown } }[] };
  return body.choices[0]?.message.content;
}

describe("unstreamed answers", () => {
  const step = {
    reasoning: "think first",
    text: "hello there",
    toolCalls: [{ id: "c1", name: "execute", arguments: { command: "ls" } }],
    usage: { inputTokens: 3, outputTokens: 4, reasoningTokens: 1, cacheReadTokens: 2, cacheWriteTokens: 0 },
  };

  test("Anthropic's message holds all blocks", async () => {
    const demo = await start([step]);
    expect(await (await post(`${demo.url}/v1/messages`, ask("hi"))).json()).toEqual({
      id: expect.stringMatching(/^msg_/),
      type: "message",
      role: "assistant",
      model: "demo",
      content: [
        { type: "thinking", thinking: "think first", signature: expect.any(String) },
        { type: "text", text: "hello there" },
        { type: "tool_use", id: "c1", name: "execute", input: { command: "ls" } },
      ],
      stop_reason: "tool_use",
      stop_sequence: null,
      usage: expect.objectContaining({ input_tokens: 3, output_tokens: 4, cache_read_input_tokens: 2 }),
    });
  });

  test("OpenAI's response holds all items", async () => {
    const demo = await start([step]);
    expect(
      await (await post(`${demo.url}/v1/responses`, { model: "demo", input: "hi" })).json(),
    ).toMatchObject({
      object: "response",
      status: "completed",
      output: [
        { type: "reasoning", summary: [{ type: "summary_text", text: "think first" }] },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "hello there" }] },
        { type: "function_call", call_id: "c1", name: "execute", arguments: '{"command":"ls"}' },
      ],
      usage: { input_tokens: 5, output_tokens: 4, total_tokens: 9 },
    });
  });

  test("Gemini's answer holds all parts, and its model is in the address", async () => {
    const { url } = await start([
      {
        reasoning: "hm",
        text: ["a", "b"],
        toolCalls: [{ id: "c", name: "execute", arguments: { command: "ls" } }],
      },
    ]);
    const contents = [{ role: "user", parts: [{ text: "hi" }] }];
    const response = await post(`${url}/v1beta/models/gemini-x:generateContent`, { contents });
    expect(await response.json()).toMatchObject({
      modelVersion: "gemini-x",
      candidates: [
        {
          finishReason: "STOP",
          content: {
            role: "model",
            parts: [
              { text: "hm", thought: true },
              { text: "a" },
              { text: "b" },
              {
                functionCall: { id: "c", name: "execute", args: { command: "ls" } },
                thoughtSignature: expect.any(String),
              },
              { text: "" },
            ],
          },
        },
      ],
    });
  });

  test("OpenAI's completion holds text and calls", async () => {
    const demo = await start([step]);
    expect(await (await post(`${demo.url}/chat/completions`, ask("hi"))).json()).toMatchObject({
      object: "chat.completion",
      choices: [
        {
          finish_reason: "tool_calls",
          message: {
            content: "hello there",
            reasoning_content: "think first",
            tool_calls: [
              { id: "c1", type: "function", function: { name: "execute", arguments: '{"command":"ls"}' } },
            ],
          },
        },
      ],
      usage: { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 },
    });
  });
});

describe("markers in the message", () => {
  test.each([
    ["[[demo: deltas=3]]", "word1 word2 word3 "],
    ["[[demo: deltas=2 size=4]]", "1 xx2 xx"],
    ["[[demo: title]] repair the login page", "Repair the login page"],
    ["[[demo: nonsense=1 delay=abc =]] what are you?", expect.stringContaining("demo model")],
  ])("%s answers %j", async (message, expected) => {
    const demo = await start();
    expect(await textOf(await post(`${demo.url}/v1/chat/completions`, ask(message)))).toEqual(expected);
  });

  test("an ordered refusal carries its status and its header", async () => {
    const demo = await start();
    const response = await post(`${demo.url}/v1/messages`, ask("[[demo: error=529 retry-after=2]]"));
    expect([response.status, response.headers.get("retry-after"), await response.json()]).toEqual([
      529,
      "2",
      expect.objectContaining({
        error: { type: "overloaded_error", message: "Asked for by a demo marker." },
      }),
    ]);
  });

  test("times=2 fails twice for each chat, then answers", async () => {
    const demo = await start();
    const statuses: string[] = [];
    for (const chat of ["a", "a", "b", "a", "b", "b"]) {
      const message = ask("[[demo: error=500 times=2]]");
      const response = await post(`${demo.url}/v1/chat/completions`, message, { "parley-chat-id": chat });
      statuses.push(`${chat} ${response.status}`);
    }
    expect(statuses).toEqual(["a 500", "a 500", "b 500", "a 200", "b 500", "b 200"]);
  });

  test("a cut answer breaks off after its deltas", async () => {
    const demo = await start();
    const response = await post(
      `${demo.url}/v1/chat/completions`,
      ask("[[demo: deltas=9 cut=2]]", { stream: true }),
    );
    let seen = "";
    const reading = (async () => {
      for await (const chunk of response.body ?? []) seen += Buffer.from(chunk).toString();
    })();
    await expect(reading).rejects.toThrow("terminated");
    expect([seen.includes("word2"), seen.includes("word3")]).toEqual([true, false]);
  });
});

test("scripts by name are chosen by header, marker or model, and the built-in plan follows", async () => {
  const demo = await start({ one: [{ text: "1a" }, { text: "1b" }], two: [{ text: "2a" }] });
  const url = `${demo.url}/v1/chat/completions`;
  const answers = [
    await textOf(await post(url, ask("hi"), { "parley-demo-script": "one" })),
    await textOf(await post(url, ask("[[demo: script=two]]"))),
    await textOf(await post(url, ask("hi", { model: "one" }))),
    await textOf(await post(url, ask("hi", { model: "one" }))),
  ];
  expect(answers).toEqual(["1a", "2a", "1b", expect.stringContaining("demo model")]);
});

describe("nonsense", () => {
  test.each(["", "{", "[]", "null", '"text"'])("the body %j is refused politely", async (body) => {
    const demo = await start();
    for (const path of ["/v1/messages", "/v1/responses", "/v1/chat/completions"]) {
      expect((await post(demo.url + path, body)).status).toBe(400);
    }
  });

  test.each([
    {},
    { messages: "x", tools: 7, input: { a: 1 } },
    {
      messages: [null, 3, { role: "tool" }, { role: "assistant", content: [{ type: "tool_use" }] }],
      input: [null, 4, {}],
    },
  ])("the request %j is answered", async (body) => {
    const demo = await start();
    for (const path of ["/v1/messages", "/v1/responses", "/v1/chat/completions"]) {
      expect([200, 400]).toContain((await post(demo.url + path, body)).status);
    }
  });

  test("unknown paths are not found, and the list of models is", async () => {
    const demo = await start();
    expect((await fetch(`${demo.url}/nope`)).status).toBe(404);
    expect(await (await fetch(`${demo.url}/v1/models`)).json()).toMatchObject({ data: [{ id: "demo" }] });
  });

  test("Gemini refuses calls without answers, and those of Gemini 3 without a signature", async () => {
    const { url } = await start();
    const call = { functionCall: { name: "execute", args: {} } };
    const response = { functionResponse: { name: "execute", response: { output: "" } } };
    const user = (...parts: object[]) => ({ role: "user", parts });
    const refusalOf = async (model: string, answers: object[]) => {
      const contents = [user({ text: "go" }), { role: "model", parts: [call] }, user(...answers)];
      const answer = await post(`${url}/v1beta/models/${model}:generateContent`, { contents });
      const { error } = (await answer.json()) as { error?: { message: string; status: string } };
      return [answer.status, error?.status, error?.message];
    };
    expect([
      await refusalOf("gemini-3.8-flash", [response]),
      await refusalOf("gemini-2.5-pro", [response]),
      await refusalOf("gemini-2.5-pro", [{ text: "no answer" }]),
    ]).toEqual([
      [400, "INVALID_ARGUMENT", "Function call is missing a thought_signature in functionCall parts."],
      [200, undefined, undefined],
      [400, "INVALID_ARGUMENT", expect.stringContaining("number of function response parts")],
    ]);
  });

  test("Gemini's list of models tells how much they read", async () => {
    const { url } = await start();
    const [list, one] = await Promise.all(
      ["models", "models/gemini-x"].map(async (path) => (await fetch(`${url}/v1beta/${path}`)).json()),
    );
    expect([list, one]).toMatchObject([
      { models: [{ name: "models/demo", inputTokenLimit: 1_048_576 }] },
      { name: "models/gemini-x", inputTokenLimit: 1_048_576 },
    ]);
  });

  test("only the newest thousand requests are retained", async () => {
    const demo = await start(() => ({ text: "" }));
    for (let round = 0; round < 21; round++) {
      await Promise.all(
        Array.from({ length: 50 }, async () => (await post(`${demo.url}/messages`, ask("hi"))).arrayBuffer()),
      );
    }
    expect(demo.requests).toHaveLength(1_000);
  });
});

test("closing ends hanging streams", async () => {
  const demo = await start([{ text: ["a"], hang: 1 }]);
  const response = await post(`${demo.url}/v1/messages`, ask("hi", { stream: true }));
  await demo.close();
  demos.splice(0);
  await expect(response.text()).rejects.toThrow("terminated");
});

describe("the command", () => {
  const run = (...argv: string[]) => {
    const child = spawn(process.execPath, [SERVER_PROGRAM, "demo-model", ...argv], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    children.push(child);
    const output = { text: "" };
    child.stdout.on("data", (chunk: Buffer) => (output.text += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (output.text += chunk.toString()));
    return { child, output };
  };

  test("prints its address, answers, and ends on SIGTERM", async () => {
    const { child, output } = run("--port", "0");
    await once(child.stdout, "data");
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(output.text) ?? [""];
    expect((await fetch(`${url}/v1/models`)).status).toBe(200);
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  test.each([
    [["--help"], 0, "[[demo: deltas=50 delay=20]]"],
    [["--port", "99999"], 2, "[[demo: deltas=50 delay=20]]"],
    [["--what"], 2, "unknown option '--what'"],
  ])("%j ends with %d and shows %j", async (argv, code, shown) => {
    const { child, output } = run(...argv);
    expect(await once(child, "close")).toEqual([code, null]);
    expect(output.text).toContain(shown);
  });
});
