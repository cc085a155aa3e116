/** Replays recorded bytes to a provider's real SDK and collects the adapter's parts. */
import {
  type ChatFailure,
  type ModelProviderKind,
  ModelCallError,
} from "../../../src/domain/common/failures.js";
import { createProvider } from "../../../src/providers/registry.js";
import type { ModelRequest, ModelStreamPart, ProviderSettings } from "../../../src/providers/types.js";
import { type Chunk, type ReplayRequest, serveStreams } from "./replay-server.js";
import { REQUEST } from "../support.js";

export type Replayed = { parts: ModelStreamPart[]; failure: ChatFailure | undefined };

/** `headers` are the answer's; everything but a `ModelCallError` is thrown on. */
export async function replay(
  kind: ModelProviderKind,
  chunks: readonly Chunk[],
  headers: Record<string, string> = {},
): Promise<Replayed> {
  const { requests: _, ...seen } = await replayAll(kind, [chunks], { headers });
  return seen;
}

/** The same with one answer for each request; also returns the requests. */
export async function replayAll(
  kind: ModelProviderKind,
  answers: readonly (readonly Chunk[])[],
  { headers = {}, request = REQUEST, settings = {} }: ReplayOptions = {},
): Promise<Replayed & { requests: readonly ReplayRequest[] }> {
  const server = await serveStreams(answers, headers);
  const base = {
    kind,
    displayName: "Acme",
    apiKey: "key",
    baseUrl: server.url,
    openaiApi: "responses" as const,
  };
  const provider = await createProvider({ ...base, ...settings });
  const parts: ModelStreamPart[] = [];
  let failure: ChatFailure | undefined;
  try {
    for await (const part of provider.stream(request, new AbortController().signal)) parts.push(part);
  } catch (error) {
    if (!(error instanceof ModelCallError)) throw error;
    failure = error.failure;
  } finally {
    await server.close();
  }
  return { parts, failure, requests: server.requests };
}

type ReplayOptions = {
  headers?: Record<string, string>;
  request?: ModelRequest;
  settings?: Partial<ProviderSettings>;
};
