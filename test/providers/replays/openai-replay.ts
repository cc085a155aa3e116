/** Runs recorded streams through the real SDK and our adapter, for the replay suites of OpenAI's formats. */
import { expect } from "vitest";
import type { ChatFailure } from "../../../src/domain/common/failures.js";
import { ModelCallError } from "../../../src/domain/common/failures.js";
import type { JsonObject } from "../../../src/domain/common/json.js";
import { createProvider } from "../../../src/providers/registry.js";
import type {
  ModelRequest,
  ModelStreamPart,
  ProviderSettings,
  ReportedUsage,
} from "../../../src/providers/types.js";
import { type Chunk, type ReplayServer, serveStream } from "./replay-server.js";
import { REQUEST } from "../support.js";

export type ReplayCase = {
  name: string;
  chunks: Chunk[];
  /** Everything the adapter yields; before the failure, where there is one. */
  parts: ModelStreamPart[];
  failure?: Partial<ChatFailure>;
  /** Default: HTTP 200 of OpenAI itself, without options. */
  kind?: ProviderSettings["kind"];
  options?: JsonObject;
  status?: number;
  headers?: Record<string, string>;
};

export const FINISH_STOP: ModelStreamPart = { type: "finish", reason: "stop" };
export const textDelta = (text: string): ModelStreamPart => ({ type: "text-delta", text });
export const thought = (text: string): ModelStreamPart => ({ type: "reasoning-delta", text });
export const used = (usage: Partial<ReportedUsage>): ModelStreamPart => ({
  type: "usage",
  usage: {
    inputTokens: 0,
    outputTokens: 0,
    reasoningTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    ...usage,
  },
});
export const typed = (toolCallId: string, toolName: string, delta: string): ModelStreamPart => ({
  type: "tool-input-delta",
  toolCallId,
  toolName,
  delta,
});
export const called = (toolCallId: string, toolName: string, args: JsonObject): ModelStreamPart => ({
  type: "tool-call",
  toolCallId,
  toolName,
  arguments: args,
});
/** A call truncated by the output limit. */
export const cutCall = (toolCallId: string, toolName: string): ModelStreamPart => ({
  type: "tool-call",
  toolCallId,
  toolName,
  arguments: {},
  isCut: true,
});

/** The bytes of a text in chunks that end in the middle of its characters. */
export function brokenBytes(text: string, size = 1): Uint8Array[] {
  const bytes = new TextEncoder().encode(text);
  const fragments: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; start += size) fragments.push(bytes.slice(start, start + size));
  return fragments;
}

export async function replay(
  { chunks, kind = "openai", options, status, headers }: ReplayCase,
  openaiApi: ProviderSettings["openaiApi"],
  more: Partial<ModelRequest> = {},
): Promise<{ parts: ModelStreamPart[]; error: unknown; server: ReplayServer }> {
  const server = await serveStream(chunks, headers, status);
  const provider = await createProvider({
    kind,
    openaiApi,
    displayName: "Acme",
    apiKey: "secret-key",
    baseUrl: kind === "azure_openai" ? server.url : `${server.url}/v1`,
  });
  const parts: ModelStreamPart[] = [];
  const request = { ...REQUEST, ...(options ? { options } : {}), ...more };
  try {
    for await (const part of provider.stream(request, new AbortController().signal)) parts.push(part);
    return { parts, error: undefined, server };
  } catch (error) {
    return { parts, error, server };
  } finally {
    await server.close();
  }
}

/** Compares all parts and the failure for equality. */
export async function expectReplay(
  input: ReplayCase,
  openaiApi: ProviderSettings["openaiApi"],
): Promise<void> {
  const { parts, error, server } = await replay(input, openaiApi);
  if (input.failure === undefined && error !== undefined) throw error as Error;
  // Each test's server has another address; the recorded parts contain a placeholder for it.
  const named: unknown = JSON.parse(JSON.stringify(parts).replaceAll(new URL(server.url).host, "{server}"));
  expect(named).toEqual(input.parts);
  if (input.failure === undefined) return;
  expect(error).toBeInstanceOf(ModelCallError);
  const { failure } = error as ModelCallError;
  expect(failure).toEqual({
    provider: input.kind ?? "openai",
    message: expect.stringContaining("Acme"),
    ...(failure.detail === undefined ? {} : { detail: failure.detail }),
    ...input.failure,
  });
}
