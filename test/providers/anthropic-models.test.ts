/** Context windows from Anthropic's list of models. */
import { afterEach, expect, test } from "vitest";
import { createProvider } from "../../src/providers/registry.js";
import { type ReplayServer, serveStream } from "./replays/replay-server.js";

const servers: ReplayServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function ask(body: string, status = 200, model = "claude-sonnet-5") {
  const server = await serveStream([body], { "content-type": "application/json" }, status);
  servers.push(server);
  const provider = await createProvider({
    kind: "anthropic",
    displayName: "Anthropic",
    apiKey: "key",
    baseUrl: server.url,
    openaiApi: "responses",
  });
  const limit = provider.findContextLimit(model, new AbortController().signal);
  return { limit, requests: server.requests };
}

test.each([
  [{ id: "m", type: "model", max_input_tokens: 1_000_000, max_tokens: 128_000 }, 1_000_000],
  [{ id: "m", type: "model", max_input_tokens: null, max_tokens: 128_000 }, null],
  [{ id: "m", type: "model" }, null],
])("%j: %s", async (description, expected) => {
  expect(await (await ask(JSON.stringify(description))).limit).toBe(expected);
});

test("the model is asked for by its name", async () => {
  const { limit, requests } = await ask("{}", 200, "us/odd name");
  expect(await limit).toBeNull();
  expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual(["GET /v1/models/us%2Fodd%20name"]);
});

test("a model that is not in the list, or a server without one, says nothing", async () => {
  expect(
    await (
      await ask('{"type":"error","error":{"type":"not_found_error","message":"no"}}', 404)
    ).limit,
  ).toBeNull();
  expect(await (await ask("<html>nothing here</html>", 404)).limit).toBeNull();
});

test("a refusal is reported", async () => {
  const { limit } = await ask(
    '{"type":"error","error":{"type":"authentication_error","message":"bad key"}}',
    401,
  );
  await expect(limit).rejects.toMatchObject({
    failure: { kind: "auth", httpStatus: 401, isRetryable: false },
  });
});

test("without a key the vendor is not asked", async () => {
  const settings = {
    kind: "anthropic",
    displayName: "Anthropic",
    apiKey: "",
    openaiApi: "responses",
  } as const;
  const provider = await createProvider({ ...settings, baseUrl: undefined });
  await expect(provider.findContextLimit("m", new AbortController().signal)).rejects.toMatchObject({
    failure: { kind: "missing_key" },
  });
});
