/** Conformance tests for every wire format: tool calls, their results, and the vendor's own search. */
import { describe, expect, test } from "vitest";
import { connect, REQUEST, WIRES } from "./support.js";

describe.each(WIRES)("$wire", (row) => {
  const { isChat, isGoogle, start, runStep } = connect(row);

  test("a tool call streams its arguments and then comes whole", async () => {
    const args = { command: "echo 'a rather long command, so that it needs several pieces' 🌍" };
    const parts = await runStep({
      text: "ok",
      toolCalls: [{ id: "call_1", name: "execute", arguments: args }],
    });
    const deltas = parts.filter((part) => part.type === "tool-input-delta");
    // This vendor does not stream its calls.
    if (isGoogle) expect(deltas).toEqual([]);
    else expect(deltas.length).toBeGreaterThan(1);
    if (!isGoogle) expect(deltas.map(({ delta }) => delta).join("")).toBe(JSON.stringify(args));
    expect(new Set(deltas.map(({ toolCallId, toolName }) => `${toolCallId} ${toolName}`))).toEqual(
      new Set(isGoogle ? [] : ["call_1 execute"]),
    );
    expect(parts.slice(-3).filter(({ type }) => type !== "usage")).toEqual([
      { type: "tool-call", toolCallId: "call_1", toolName: "execute", arguments: args },
      { type: "finish", reason: "tool-calls" },
    ]);
  });

  test("two parallel tool calls keep their order and their own arguments", async () => {
    const toolCalls = ["a", "b"].map((id) => ({
      id,
      name: "execute",
      arguments: { command: `echo ${id} and more` },
    }));
    const parts = await runStep({ toolCalls });
    expect(parts.filter(({ type }) => type === "tool-call")).toEqual(
      toolCalls.map(({ id, name, arguments: args }) => ({
        type: "tool-call",
        toolCallId: id,
        toolName: name,
        arguments: args,
      })),
    );
  });

  test.each(["{broken", "[1]", '"text"', ""])(
    "tool arguments %j, which are no object, become {}",
    async (raw) => {
      const parts = await runStep({ toolCalls: [{ id: "a", name: "execute", arguments: raw }] });
      expect(parts.find(({ type }) => type === "tool-call")).toEqual({
        type: "tool-call",
        toolCallId: "a",
        toolName: "execute",
        arguments: {},
      });
    },
  );

  test("calls and results go back as pairs, errors marked", async () => {
    const { demo, run } = await start([{ text: "done" }]);
    const call = { toolCallId: "we.ird/id", toolName: "execute" };
    await run({
      ...REQUEST,
      messages: [
        ...REQUEST.messages,
        { role: "assistant", parts: [{ type: "tool-call", ...call, arguments: { command: "ls" } }] },
        { role: "tool", parts: [{ type: "tool-result", ...call, result: { error: "no" }, isError: true }] },
      ],
    });
    expect(demo.requests[0]?.turns).toEqual([
      { role: "user", text: "hello" },
      {
        role: "assistant",
        text: "",
        calls: [{ id: "we_ird_id_934aed06da690828", name: "execute", arguments: { command: "ls" } }],
      },
      {
        role: "results",
        results: [{ id: "we_ird_id_934aed06da690828", text: '{"error":"no"}', isError: true }],
      },
    ]);
  });

  test.skipIf(!isChat)("ids are as Mistral's models want them, once they have said so", async () => {
    const message = "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.";
    const { demo, run } = await start([{ error: { status: 400, message } }, { text: "done" }]);
    const call = { toolCallId: "call_1", toolName: "execute" };
    await run({
      ...REQUEST,
      messages: [
        ...REQUEST.messages,
        { role: "assistant", parts: [{ type: "tool-call", ...call, arguments: {} }] },
        { role: "tool", parts: [{ type: "tool-result", ...call, result: "ok", isError: false }] },
      ],
    });
    const ids = demo.requests.map(({ turns }) =>
      turns.flatMap((turn) => [
        ...(turn.role === "assistant" ? turn.calls.map(({ id }) => id) : []),
        ...(turn.role === "results" ? turn.results.map(({ id }) => id) : []),
      ]),
    );
    const [first, second] = ids[1] ?? [];
    expect(ids[0]).toEqual(["call_1", "call_1"]);
    expect([first, second]).toEqual([expect.stringMatching(/^[a-zA-Z0-9]{9}$/), first]);
  });

  test("a search of the vendor's own and its sources are reported", async () => {
    const pages = [{ url: "https://example.com/a", title: "A" }];
    const parts = await runStep({ search: { query: "why", pages }, text: "because" });
    expect(parts.filter(({ type }) => type === "source")).toEqual([
      { type: "source", url: "https://example.com/a", title: "A" },
    ]);
    if (isChat) return;
    const vendorParts = parts.filter(({ type }) => type === "tool-call" || type === "tool-result");
    expect(vendorParts).toEqual([
      expect.objectContaining({
        toolName: "web_search",
        arguments: { query: "why" },
        isProviderExecuted: true,
      }),
      expect.objectContaining({ toolName: "web_search", isError: false, isProviderExecuted: true }),
    ]);
  });
});
