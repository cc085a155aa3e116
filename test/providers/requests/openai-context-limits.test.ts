/** Context windows from servers' model lists. */
import { afterEach, describe, expect, test } from "vitest";
import { startDemoModel } from "../../../src/demo-model/server.js";
import { createProvider } from "../../../src/providers/registry.js";
import type { ProviderSettings } from "../../../src/providers/types.js";
import { type ReplayServer, serveStream } from "../replays/replay-server.js";

const servers: Pick<ReplayServer, "close">[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function ask(list: unknown, more: Partial<ProviderSettings> = {}, status = 200, signal?: AbortSignal) {
  const server = await serveStream([JSON.stringify(list)], { "content-type": "application/json" }, status);
  servers.push(server);
  const provider = await createProvider({
    kind: "openai_compatible",
    displayName: "Acme",
    apiKey: "k",
    baseUrl: `${server.url}/v1`,
    openaiApi: "chat",
    ...more,
  });
  const limit = provider.findContextLimit("some/model", signal ?? new AbortController().signal);
  return { limit, server };
}

const entry = (fields: object) => ({
  object: "list",
  data: [
    { id: "other", context_length: 1 },
    { id: "some/model", ...fields },
  ],
});

describe("the context window of a model", () => {
  test.each([
    [entry({ context_length: 131_072, top_provider: { context_length: 65_536 } }), 131_072],
    [entry({ max_model_len: 32_768 }), 32_768],
    [entry({ owned_by: "x" }), null],
    [{ object: "list", data: [{ id: "other", context_length: 1 }] }, null],
    [{ object: "list", data: [] }, null],
  ])("is read from the server's list %j", async (list, expected) => {
    const { limit, server } = await ask(list);
    expect(await limit).toBe(expected);
    expect(server.requests).toMatchObject([{ method: "GET", path: "/v1/models" }]);
  });

  test("is unknown where there is no list", async () => {
    expect(await (await ask({ error: { message: "Not Found" } }, {}, 404)).limit).toBeNull();
  });

  test.each([
    [401, "auth"],
    [500, "generic"],
  ])("is not known when the list is refused with %i", async (status, kind) => {
    const { limit } = await ask({ error: { message: "no" } }, {}, status);
    await expect(limit).rejects.toMatchObject({ failure: { kind, httpStatus: status } });
  });

  test("is asked of a gateway before OpenAI, but neither of OpenAI itself nor of Azure, whose lists are silent", async () => {
    const gateway = await ask(entry({ context_window: 7_000 }), { kind: "openai", openaiApi: "responses" });
    expect(await gateway.limit).toBe(7_000);
    expect(await (await ask({}, { kind: "openai", baseUrl: undefined })).limit).toBeNull();
    const azure = await ask(entry({ context_window: 7_000 }), { kind: "azure_openai" });
    expect(await azure.limit).toBeNull();
    expect(azure.server.requests).toEqual([]);
  });

  test("is not requested once the call is aborted", async () => {
    const { limit, server } = await ask(entry({ context_window: 7_000 }), {}, 200, AbortSignal.abort());
    expect(await limit).toBeNull();
    expect(server.requests).toEqual([]);
  });

  test("of the demo model is not requested", async () => {
    const demo = await startDemoModel({ host: "127.0.0.1", port: 0 });
    servers.push(demo);
    const { limit } = await ask({}, { baseUrl: demo.url });
    expect(await limit).toBeNull();
  });
});
