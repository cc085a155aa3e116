/**
 * The real SDK adapters against the scripted demo model over loopback, for the conformance tests of every wire format.
 */
import { expect, onTestFinished } from "vitest";
import type { ChatFailure } from "../../src/domain/common/failures.js";
import { ModelCallError } from "../../src/domain/common/failures.js";
import type { ScriptStep } from "../../src/demo-model/answer.js";
import type { Script } from "../../src/demo-model/script.js";
import { type DemoModel, startDemoModel } from "../../src/demo-model/server.js";
import { createProvider } from "../../src/providers/registry.js";
import type { ModelRequest, ModelStreamPart, ProviderSettings } from "../../src/providers/types.js";
import type { StreamLimits } from "../../src/providers/common/watchdog.js";

export const WIRES = [
  { wire: "anthropic", kind: "anthropic", openaiApi: "responses", path: "" },
  { wire: "openai-responses", kind: "openai", openaiApi: "responses", path: "/v1" },
  { wire: "openai-chat", kind: "openai", openaiApi: "chat", path: "/v1" },
  { wire: "openai-chat (compatible)", kind: "openai_compatible", openaiApi: "chat", path: "" },
  { wire: "bedrock", kind: "bedrock", openaiApi: "responses", path: "" },
  { wire: "google", kind: "google", openaiApi: "responses", path: "" },
  { wire: "openai-responses (azure)", kind: "azure_openai", openaiApi: "responses", path: "" },
  { wire: "openai-chat (azure)", kind: "azure_openai", openaiApi: "chat", path: "/openai/v1" },
] as const;

export const REQUEST: ModelRequest = {
  model: "some-model",
  system: "Be brief.",
  messages: [{ role: "user", parts: [{ type: "text", text: "hello" }] }],
  tools: [
    {
      name: "execute",
      description: "Runs a command.",
      inputSchema: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
    },
  ],
  maxOutputTokens: 4_000,
};

/** A demo model for the running test. A hook of this module would be one of the first file that loads it, only. */
export async function startDemo(script: Script): Promise<DemoModel> {
  const demo = await startDemoModel({ host: "127.0.0.1", port: 0, script });
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= demo.close());
  onTestFinished(close);
  return { ...demo, close };
}

type Wire = (typeof WIRES)[number];

/** The adapter of one wire format, and its capabilities. */
export function connect({ wire, kind, openaiApi, path }: Wire) {
  const isAnthropic = wire === "anthropic" || wire === "bedrock";
  const isResponses = wire.startsWith("openai-responses");
  const isChat = wire.startsWith("openai-chat");
  const isGoogle = wire === "google";

  const start = async (script: Script, limits: Partial<StreamLimits> = {}) => {
    const demo = await startDemo(script);
    const baseUrl = demo.url + path;
    const settings: ProviderSettings = {
      kind,
      openaiApi,
      baseUrl,
      displayName: "Acme",
      apiKey: "secret-key",
    };
    const provider = await createProvider(settings, limits);
    const run = (request = REQUEST, signal = new AbortController().signal) =>
      collect(provider.stream(request, signal));
    return { demo, provider, run };
  };
  const runStep = async (step: ScriptStep, limits?: Partial<StreamLimits>) =>
    (await start([step], limits)).run();
  const failureOf = async (step: ScriptStep, limits?: Partial<StreamLimits>) => {
    const { run } = await start([step], limits);
    const error = await run().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof ModelCallError)) throw new Error("expected a ModelCallError", { cause: error });
    return error;
  };
  const failure = (fields: Partial<ChatFailure>): unknown =>
    expect.objectContaining({ provider: kind, message: expect.stringContaining("Acme"), ...fields });

  return { isAnthropic, isResponses, isChat, isGoogle, start, runStep, failureOf, failure };
}

export async function collect(stream: AsyncIterable<ModelStreamPart>): Promise<ModelStreamPart[]> {
  const parts: ModelStreamPart[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

export function textOf(parts: ModelStreamPart[], type: "text-delta" | "reasoning-delta"): string {
  return parts.flatMap((part) => (part.type === type ? [part.text] : [])).join("");
}

/** Polls a condition every millisecond until it is met; bounded by the test's own timeout. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
}
