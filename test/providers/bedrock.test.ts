/** Specifics of Bedrock: addresses, regions and credentials. The replay suites cover what it shares with Anthropic. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { ModelCallError } from "../../src/domain/common/failures.js";
import { createProvider } from "../../src/providers/registry.js";
import type { ProviderSettings } from "../../src/providers/types.js";
import { collect, connect, REQUEST, startDemo, WIRES } from "./support.js";

const MODEL = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0";
const ARN = "arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/abc";

afterEach(() => vi.unstubAllEnvs());

async function startBedrock(more: Partial<ProviderSettings> = {}) {
  const demo = await startDemo(() => ({ text: "hi" }));
  const settings = {
    kind: "bedrock",
    displayName: "Bedrock",
    apiKey: "key",
    openaiApi: "responses",
  } as const;
  const provider = await createProvider({ ...settings, baseUrl: demo.url, ...more });
  const run = (request: Partial<typeof REQUEST>) =>
    collect(provider.stream({ ...REQUEST, ...request }, new AbortController().signal));
  return { demo, run, provider };
}

/** AWS credentials from these variables only, never from the machine's configuration. */
function stubCredentials(keys: Record<string, string>): void {
  for (const name of ["AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK", "AWS_REGION", "AWS_SESSION_TOKEN"]) {
    vi.stubEnv(name, undefined);
  }
  vi.stubEnv("AWS_ACCESS_KEY_ID", keys.access);
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", keys.secret);
  vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
  vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent");
  vi.stubEnv("AWS_CONFIG_FILE", "/nonexistent");
}

test.each([MODEL, ARN])(
  "the model %s is part of the address, the version and the betas of the body",
  async (model) => {
    const { demo, run } = await startBedrock();
    await run({
      model,
      options: { betas: ["one-beta", "two-beta"] },
      headers: { "Parley-Chat-Id": "chat-1" },
    });
    const [seen] = demo.requests;
    expect(seen).toMatchObject({ wire: "bedrock", model, isStreaming: true });
    expect(seen?.headers).toMatchObject({ authorization: "Bearer key", "parley-chat-id": "chat-1" });
    expect(seen?.body).toMatchObject({
      anthropic_version: "bedrock-2023-05-31",
      anthropic_beta: ["one-beta", "two-beta"],
    });
    expect(seen?.body).not.toHaveProperty("model");
    expect(seen?.body).not.toHaveProperty("stream");
  },
);

test("a model of the 4.5 generation thinks with a budget under Bedrock's name, too", async () => {
  const { demo, run } = await startBedrock();
  await run({ model: MODEL, reasoningEffort: "low", maxOutputTokens: 32_000 });
  expect(demo.requests[0]?.body.thinking).toEqual({ type: "enabled", budget_tokens: 2_048 });
});

test("a key in the environment is never used", async () => {
  stubCredentials({ access: "AKIAEXAMPLE", secret: "secret" });
  vi.stubEnv("AWS_BEARER_TOKEN_BEDROCK", "from-the-environment");
  vi.stubEnv("AWS_REGION", "us-west-2");
  const { demo, run } = await startBedrock({ apiKey: "" });
  await run({ options: { region: "eu-central-1" } });
  expect(demo.requests[0]?.headers.authorization).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE\/\d{8}\/eu-central-1\/bedrock\/aws4_request, /,
  );
});

test("without a key requests are signed for the region of the model's ARN", async () => {
  stubCredentials({ access: "AKIAEXAMPLE", secret: "secret" });
  const { demo, run } = await startBedrock({ apiKey: "" });
  expect((await run({ model: ARN })).at(-1)).toEqual({ type: "finish", reason: "stop" });
  expect(demo.requests[0]?.headers.authorization).toContain("/eu-west-1/bedrock/aws4_request");
});

test("a machine without any AWS credentials fails with a clear message", async () => {
  stubCredentials({});
  const { demo, run } = await startBedrock({ apiKey: "" });
  await expect(run({ options: { region: "us-east-1" } })).rejects.toMatchObject({
    failure: { kind: "auth", isRetryable: false, provider: "bedrock" },
  });
  expect(demo.requests).toEqual([]);
});

describe("without a region", () => {
  test.each([
    ["signed, behind an address that names none", { apiKey: "" }],
    ["at AWS's own address", { baseUrl: undefined }],
  ])("a call %s is a matter of configuration", async (_, settings) => {
    stubCredentials({ access: "AKIAEXAMPLE", secret: "secret" });
    vi.stubEnv("AWS_REGION", "us-west-2");
    const { demo, run } = await startBedrock(settings);
    const error = await run({}).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ModelCallError);
    expect((error as ModelCallError).failure).toEqual({
      kind: "config",
      isRetryable: false,
      provider: "bedrock",
      message:
        "Bedrock cannot be called without an AWS region. Set the model's option `region` or a base URL that names one.",
    });
    expect(demo.requests).toEqual([]);
  });
});

test("Bedrock does not report the context window", async () => {
  const { provider } = await startBedrock();
  expect(await provider.findContextLimit(MODEL, new AbortController().signal)).toBeNull();
});

describe("AWS's refusals", () => {
  const bedrock = WIRES.find(({ wire }) => wire === "bedrock") ?? WIRES[0];
  test.each([
    [429, "ThrottlingException", "Too many tokens, please wait before trying again.", "rate_limited", true],
    [429, "ModelNotReadyException", "The model is not ready.", "overloaded", true],
    [408, "ModelTimeoutException", "Took too long.", "timeout", true],
    [424, "ModelErrorException", "The model failed.", "generic", true],
    [503, "ServiceUnavailableException", "Bedrock is unable to process your request.", "timeout", true],
    [500, "InternalServerException", "Oops.", "generic", true],
    [
      403,
      "AccessDeniedException",
      "You don't have access to the model with the specified model ID.",
      "auth",
      false,
    ],
    [
      403,
      "UnrecognizedClientException",
      "The security token included in the request is invalid.",
      "auth",
      false,
    ],
    [403, "ExpiredTokenException", "The security token included in the request is expired", "auth", false],
    [400, "ValidationException", "Input is too long for requested model.", "context_too_large", false],
    [400, "ValidationException", "The provided model identifier is invalid.", "config", false],
    [404, "ResourceNotFoundException", "Could not resolve the foundation model.", "config", false],
    [400, "ServiceQuotaExceededException", "Your request exceeds the service quota.", "rate_limited", true],
    [400, "ValidationException", "Malformed input request.", "generic", false],
  ] as const)("%i %s: %s", async (status, type, message, kind, isRetryable) => {
    const { failureOf, failure } = connect(bedrock);
    const error = await failureOf({ error: { status, type, message } });
    expect(error.failure).toEqual(failure({ kind, isRetryable, httpStatus: status, detail: message }));
  });

  test("an exception inside the stream is recognised by its name", async () => {
    const { failureOf, failure } = connect(bedrock);
    const error = await failureOf({
      text: ["a"],
      streamError: { type: "throttlingException", message: "Slow." },
    });
    expect(error.failure).toEqual(failure({ kind: "rate_limited", isRetryable: true, detail: "Slow." }));
  });
});

describe("the demo model as Bedrock", () => {
  const ask = async (path: string) => {
    const { demo } = await startBedrock();
    const body = JSON.stringify({ max_tokens: 9, messages: [{ role: "user", content: "hello" }] });
    return fetch(`${demo.url}${path}`, { method: "POST", body });
  };

  test("answers whole where streaming is not asked for", async () => {
    const response = await ask(`/model/${encodeURIComponent(MODEL)}/invoke`);
    expect(await response.json()).toMatchObject({ model: MODEL, content: [{ type: "text", text: "hi" }] });
  });

  test("streams in AWS's binary format", async () => {
    const response = await ask(`/model/${encodeURIComponent(MODEL)}/invoke-with-response-stream`);
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(response.headers.get("content-type")).toBe("application/vnd.amazon.eventstream");
    // The first message ends according to its length, and another one begins.
    const length = bytes.readUInt32BE(0);
    expect(bytes.subarray(12, length).toString("latin1")).toContain(":event-type");
    expect(bytes.readUInt32BE(length)).toBeGreaterThan(16);
  });
});
