// The client against the official "everything" server, over both transports, in a separate process.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { McpClient, McpProgress } from "../../src/mcp/types.js";
import { connect, neverAborted, startEverything, textOf, type StartedServer } from "./support.js";

describe.each(["streamable_http", "sse"] as const)("over %s", (kind) => {
  let server: StartedServer;
  let client: McpClient;
  beforeAll(async () => {
    server = await startEverything(kind);
    client = await connect(server.url);
  });
  afterAll(async () => {
    await client.close();
    await server.stop();
  });

  const call = (tool: string, args = {}) => client.call({ tool, args, signal: neverAborted() });

  test("the server introduces itself, and its tools sorted with their schemas", async () => {
    const tools = await client.listTools();
    expect(client.server.name).toContain("everything");
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["echo", "get-structured-content", "get-sum", "get-tiny-image"]),
    );
    expect(tools.map(({ name }) => name)).toEqual(tools.map(({ name }) => name).sort());
    expect(tools.find(({ name }) => name === "echo")?.inputSchema).toMatchObject({
      type: "object",
      properties: { message: { type: "string" } },
      required: ["message"],
    });
  });

  test("results of each kind come as parts of their kind", async () => {
    const kinds = async (tool: string, args = {}) => (await call(tool, args)).parts.map(({ type }) => type);
    expect(textOf((await call("get-sum", { a: 2, b: 3 })).parts)).toContain("5");
    expect(await kinds("get-tiny-image")).toContain("image");
    expect(await kinds("get-resource-links", { count: 2 })).toEqual([
      "text",
      "resource-link",
      "resource-link",
    ]);
    expect(await kinds("get-resource-reference", { resourceType: "Text", resourceId: 1 })).toContain(
      "resource",
    );
    expect((await call("get-structured-content", { location: "New York" })).structuredContent).toMatchObject({
      temperature: expect.any(Number) as number,
    });
  });

  test("progress is reported while a call runs", async () => {
    const reports: McpProgress[] = [];
    const { parts } = await client.call({
      tool: "trigger-long-running-operation",
      args: { duration: 0.4, steps: 4 },
      signal: neverAborted(),
      onProgress: (progress) => reports.push(progress),
    });
    expect(textOf(parts)).toContain("completed");
    expect(reports.map(({ progress, total }) => [progress, total])).toContainEqual([1, 4]);
  });

  test("a cancelled call ends at once, and the session continues", async () => {
    const leaving = new AbortController();
    const called = client.call({
      tool: "trigger-long-running-operation",
      args: { duration: 600, steps: 6000 },
      signal: leaving.signal,
      onProgress: () => leaving.abort(new Error("enough")),
    });
    await expect(called).rejects.toMatchObject({ name: "McpFailure", kind: "cancelled" });
    expect(textOf((await call("echo", { message: "still here" })).parts)).toBe("Echo: still here");
  });

  test("a tool that does not exist, or arguments that do not fit, are reported as by the server", async () => {
    expect(await call("nothing-like-it")).toMatchObject({ isError: true });
    expect(await call("get-sum", { a: "two" })).toMatchObject({ isError: true });
  });
});
