// The official reference server, registered by an admin and selected by users, in real turns over both transports: what
// the model receives, what users see, and the resulting files.
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startEverything, type StartedServer } from "../../mcp/support.js";
import type { ApiClient } from "../../support/clients/api-client.js";
import { startGatedModel, type GatedModel } from "../../support/models/gated-model.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";

let environment: TestEnvironment;
let model: GatedModel;
let parley: TestParley;
let ann: ApiClient;
beforeAll(async () => {
  [environment, model] = await Promise.all([createTestEnvironment(), startGatedModel()]);
  parley = await environment.start(model.settings);
  ann = await parley.addUser("ann");
});
afterAll(async () => {
  await environment.remove();
  await model.close();
});

type Shown = { id: string; name: string; mediaType: string; sizeBytes: number; url: string };
type Call = { toolName: string; mcpServer: { id: string } | null };
type Result = { toolName: string; result: unknown; isError: boolean; files: Shown[] };

const PARTS = `query ($chatId: ID!) { chat(id: $chatId) { messages(last: 100) { nodes { parts {
  __typename
  ... on ToolCallPart { toolName mcpServer { id } }
  ... on ToolResultPart { toolName result isError files { id name mediaType sizeBytes url } } } } } } }`;

/** All tool calls of the chat, in order. */
async function heard(chatId: string): Promise<{ calls: Call[]; results: Result[] }> {
  type Part = { __typename: string } & Call & Result;
  type Answer = { chat: { messages: { nodes: { parts: Part[] }[] } } };
  const { chat } = await ann.get<Answer>(PARTS, { chatId });
  const parts = chat.messages.nodes.flatMap((message) => message.parts);
  const of = (type: string) => parts.filter(({ __typename }) => __typename === type);
  return { calls: of("ToolCallPart"), results: of("ToolResultPart") };
}

async function download({ url }: Shown): Promise<Buffer> {
  const response = await fetch(new URL(url, ann.url));
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

describe.each([
  ["streamable HTTP", "STREAMABLE_HTTP", "streamable_http"],
  ["SSE", "SSE", "sse"],
] as const)("over %s", (_, transport, kind) => {
  const slug = `everything-${kind === "sse" ? "sse" : "http"}`;
  let everything: StartedServer;
  let serverId: string;
  beforeAll(async () => {
    everything = await startEverything(kind);
    const input = {
      ...{ slug, displayName: slug, url: everything.url.href, transport, auth: { none: true } },
      ...{ isEnabled: true, isPrivateNetworkAllowed: true },
    };
    type Made = { server: { id: string } | null; userErrors: unknown[] };
    const { server, userErrors } = await parley.api.change<Made>("createMcpServer", input, "server { id }");
    expect(userErrors).toEqual([]);
    serverId = server?.id ?? "";
  });
  afterAll(() => everything.stop());

  const selecting = () => ({ workspaceId: null, mcpServerIds: [serverId] });
  const call = (tool: string, args: object = {}) => `call ${slug}__${tool} with \`${JSON.stringify(args)}\``;

  /** Creates a chat that has selected the server; the model makes these calls in sequence. */
  async function turn(...calls: string[]) {
    const chatId = await ann.createChat(calls.join(", then "), selecting());
    const follower = ann.follow(chatId);
    await follower.untilStatus("WAITING", "FAILED");
    await follower.close();
    expect(follower.transcript.status).toBe("WAITING");
    return heard(chatId);
  }

  test("the model calls its tools and reads their results, and users see which server provides them", async () => {
    const { calls, results } = await turn(
      call("echo", { message: "hello" }),
      call("get-sum", { a: 2, b: 40 }),
      call("get-structured-content", { location: "Chicago" }),
      call("get-annotated-message", { messageType: "debug" }),
      call("get-resource-links", { count: 2 }),
    );
    expect(calls.map(({ mcpServer }) => mcpServer)).toEqual(Array(5).fill({ id: serverId }));
    expect(results.map(({ isError }) => isError)).toEqual(Array(5).fill(false));
    expect(results.flatMap(({ files }) => files)).toEqual([]);
    const [echo, sum, structured, annotated, links] = results.map(({ result }) => result);
    expect([echo, sum, annotated]).toEqual([
      "Echo: hello",
      "The sum of 2 and 40 is 42.",
      "Debug: Cache hit ratio 0.95, latency 150ms",
    ]);
    expect(JSON.parse(String(structured))).toMatchObject({ temperature: 36, humidity: 82 });
    expect(
      String(links).match(/\[resource link: demo:\/\/resource\/dynamic\/\S+, \w+ Resource \d/g),
    ).toHaveLength(2);
    // The model received the same.
    const asked = JSON.stringify(model.requests.at(-1));
    expect(asked).toContain("The sum of 2 and 40 is 42.");
  });

  test("images and binary resources are files of the result that users can download", async () => {
    const { results } = await turn(
      call("get-tiny-image"),
      call("get-annotated-message", { messageType: "success", includeImage: true }),
      call("get-resource-reference", { resourceType: "Blob", resourceId: 7 }),
      call("gzip-file-as-resource", {
        name: "note.gz",
        data: `data:text/plain,${"milk".repeat(50)}`,
        outputType: "resource",
      }),
    );
    const [image, annotated, blob, zipped] = results;
    const picture = { name: "image-2.png", mediaType: "image/png" };
    expect(results).toMatchObject([
      { isError: false, files: [picture] },
      { isError: false, files: [picture] },
      { isError: false, files: [{ sizeBytes: expect.any(Number) as number }] },
      { isError: false, files: [{ name: "note.gz", mediaType: "application/gzip" }] },
    ]);
    const files = results.flatMap((result) => result.files);
    const bytes = await Promise.all(files.map(download));
    expect(bytes.map(({ length }) => length)).toEqual(files.map(({ sizeBytes }) => sizeBytes));
    const [first, second, third, fourth] = bytes;
    expect(first?.subarray(1, 4).toString()).toBe("PNG");
    expect(second?.equals(first ?? Buffer.alloc(0))).toBe(true);
    expect(third?.toString()).toContain("Resource 7: This is a base64 blob");
    expect(gunzipSync(fourth ?? "").toString()).toBe("milk".repeat(50));
    // Not every model accepts files, so the text names them.
    expect(image?.result).toBe(
      `Here's the image you requested:\n[image: image/png, ${first?.length} bytes, file image-2.png]\nThe image above is the MCP logo.`,
    );
    for (const [{ result } = { result: null }, name] of [
      [annotated, "image-2.png"],
      [blob, files[2]?.name],
      [zipped, "note.gz"],
    ] as const)
      expect(result).toContain(`file ${name}`);
  });

  test("a call's progress is streamed while it runs", async () => {
    const { chatId, follower } = await ann.quietChat(selecting());
    await ann.send(chatId, call("trigger-long-running-operation", { duration: 0.6, steps: 3 }));
    await follower.until(({ preview }) =>
      [...(preview?.outputs.values() ?? [])].some((output) => output.startsWith("1 of 3\n")),
    );
    await follower.untilStatus("WAITING");
    expect(follower.transcript.breaches).toEqual([]);
    await follower.close();
    const { results } = await heard(chatId);
    expect(results).toMatchObject([
      { result: "Long running operation completed. Duration: 0.6 seconds, Steps: 3.", isError: false },
    ]);
  });

  test("a call with invalid arguments or of an unknown tool is an error returned to the model", async () => {
    const { results } = await turn(call("get-sum", { a: "two" }));
    expect(results).toMatchObject([
      { isError: true, result: { error: expect.stringContaining("Invalid arguments") as string } },
    ]);
    expect((await turn(call("no-such-tool"))).calls).toEqual([]);
  });
});
