// Calls of a workspace's own tools and the lifecycle of their MCP servers, with real agents and servers.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  callText,
  isAlive,
  linesOf,
  refusal,
  startMcpWorkspace,
  statuses,
  testServer,
  until,
  writeServers,
  type McpWorkspace,
} from "./mcp-support.js";

let workspace: McpWorkspace;
beforeAll(async () => {
  workspace = await startMcpWorkspace();
});
afterEach(() => workspace.forget());
afterAll(() => workspace.close());

describe("a call", () => {
  test("[M21] gives every kind of content as a part of its own", async () => {
    await writeServers(workspace.agent.folder, { one: testServer() });
    expect(await workspace.agent.connection.callMcpTool({ name: "one__kinds", arguments: {} })).toEqual({
      parts: [
        { type: "text", text: "words" },
        { type: "image", data: "aW1hZ2U=", mediaType: "image/png" },
        { type: "audio", data: "c291bmQ=", mediaType: "audio/wav" },
        { type: "resource", uri: "a:text", mediaType: "text/plain", text: "inside" },
        { type: "resource", uri: "a:blob", mediaType: "application/zip", data: "emlw" },
        {
          type: "resource-link",
          uri: "a:link",
          name: "Link",
          description: "Leads on.",
          mediaType: "text/html",
        },
        { type: "unknown", kind: "hologram" },
      ],
      structuredContent: { answer: 42 },
      isError: false,
    });
  });

  test("[M19] that cannot be made says why", async () => {
    await writeServers(workspace.agent.folder, { one: testServer() });
    const calls = ["where", "__where", "one__", "two__where", "one__none"].map((name) =>
      refusal(workspace.agent.connection.callMcpTool({ name, arguments: {} })),
    );
    const form = `A tool's name is its server's, "__", and its own.`;
    expect(await Promise.all(calls)).toEqual([
      { status: 400, message: `"where" is not the name of a tool. ${form}` },
      { status: 400, message: `"__where" is not the name of a tool. ${form}` },
      { status: 400, message: `"one__" is not the name of a tool. ${form}` },
      { status: 404, message: 'There is no MCP server named "two".' },
      { status: 502, message: "The MCP server one failed: MCP error -32603: There is no none." },
    ]);
    expect(await workspace.agent.connection.callMcpTool({ name: "one__refuse", arguments: {} })).toEqual({
      parts: [{ type: "text", text: "I would rather not." }],
      isError: true,
    });
  });

  test("[M18] asks the server to report its progress", async () => {
    await writeServers(workspace.agent.folder, { one: testServer() });
    expect(await callText(workspace.agent.connection, "one__progress")).toBe("told");
  });

  test("[M20] whose caller disconnects is cancelled at the server, which continues", async () => {
    const log = workspace.inWorkspace("log");
    await writeServers(workspace.agent.folder, { one: testServer() });
    const { pid } = await workspace.where("one");
    const leaving = new AbortController();
    const call = { name: "one__slow", arguments: { log } };
    const called = workspace.agent.connection
      .callMcpTool(call, { signal: leaving.signal })
      .catch(() => "left");
    await until(() => linesOf(log).includes("called"), "the call has begun");
    leaving.abort(new Error("enough"));
    expect(await called).toBe("left");
    await until(() => linesOf(log).includes("cancelled"), "the server hears of it");
    expect((await workspace.where("one")).pid).toBe(pid);
  });

  test("[M8] [M22] during which its server dies fails, and the next one finds a new server", async () => {
    await writeServers(workspace.agent.folder, { one: testServer() });
    const { pid } = await workspace.where("one");
    expect(
      await refusal(workspace.agent.connection.callMcpTool({ name: "one__die", arguments: {} })),
    ).toEqual({
      status: 502,
      message:
        "The MCP server one failed: MCP error -32000: Connection closed. It ended (SIGKILL) during the call.",
    });
    const next = await workspace.where("one");
    expect([next.pid === pid, isAlive(pid)]).toEqual([false, false]);
    process.kill(next.pid, "SIGKILL");
    await until(() => !isAlive(next.pid), "the second server is gone");
    await until(async () => statuses(await workspace.list()).one === "ready", "a list starts it again");
    expect((await workspace.where("one")).pid).not.toBe(next.pid);
  });

  test("[M22] of a server that dies again and again is refused after a while instead of starting it once more", async () => {
    await writeServers(workspace.agent.folder, { one: testServer() });
    const messages: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      messages.push(
        (await refusal(workspace.agent.connection.callMcpTool({ name: "one__die", arguments: {} }))).message,
      );
    }
    expect(messages.map((message) => message.includes("is not available"))).toEqual([
      false,
      false,
      false,
      false,
      true,
    ]);
  });

  test("[M25] whose answer is longer than 10 MiB fails, and the next one is answered, also one with long arguments", async () => {
    await writeServers(workspace.agent.folder, { one: testServer() });
    const huge = (bytes: number) =>
      workspace.agent.connection.callMcpTool({ name: "one__huge", arguments: { bytes } });
    expect((await huge(9 * 1024 * 1024)).isError).toBe(false);
    expect(await refusal(huge(11 * 1024 * 1024))).toMatchObject({ status: 502 });
    expect((await huge(1)).isError).toBe(false);
    const long = { bytes: 1, rest: "x".repeat(9 * 1024 * 1024) };
    expect(
      (await workspace.agent.connection.callMcpTool({ name: "one__huge", arguments: long })).isError,
    ).toBe(false);
  });

  test("[M22] [M23] a killed server's child processes end with it", async () => {
    await writeServers(workspace.agent.folder, { one: testServer() });
    const child = Number(await callText(workspace.agent.connection, "one__parent"));
    await refusal(workspace.agent.connection.callMcpTool({ name: "one__die", arguments: {} }));
    await until(() => !isAlive(child), "its child is gone");
  });
});
