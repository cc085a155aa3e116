/** HTTP requests to a workspace agent. They fail with one of two errors: `AgentError` or `AgentUnreachable`. */
import { z } from "zod";
import {
  agentErrorSchema,
  ANCESTOR_CHAT_IDS_HEADER,
  CHAT_ID_HEADER,
  USER_ID_HEADER,
} from "../../agent/protocol/requests.js";
import type { Clock } from "../../lib/clock.js";

/** Timeout of requests that do not wait for a process; after it the agent counts as unreachable. */
export const AGENT_REQUEST_TIMEOUT_MS = 30_000;
/** The agent refused the request. `message` and `field` are written for users and models. */
export class AgentError extends Error {
  override readonly name = "AgentError";

  constructor(
    readonly status: number,
    message: string,
    readonly facts: { field?: string; detail?: string } = {},
  ) {
    super(message);
  }
}

/** The agent did not answer, or not in its protocol: whether it carried out the request is unknown. */
export class AgentUnreachable extends Error {
  override readonly name = "AgentUnreachable";
}

export type AgentAddress = {
  /** Origin only, without a path. */
  url: string;
  token: string;
  /** The agent's own `instanceId`; when absent, the URL identifies it. */
  instanceId?: string;
  chatId?: string;
  ancestorChatIds?: readonly string[];
  /** The chat's owner. */
  userId?: string;
  clock?: Clock;
};

export type Exchange<Schema> = {
  method: "GET" | "POST";
  path: string;
  answer: Schema;
  body?: unknown;
  signal?: AbortSignal;
  timeoutMs?: number;
};
export type Ask = <Schema extends z.ZodType>(exchange: Exchange<Schema>) => Promise<z.infer<Schema>>;

export async function askAgent<Schema extends z.ZodType>(
  address: AgentAddress,
  exchange: Exchange<Schema>,
): Promise<z.infer<Schema>> {
  const { method, path, signal } = exchange;
  signal?.throwIfAborted();
  const timeout = AbortSignal.timeout(exchange.timeoutMs ?? AGENT_REQUEST_TIMEOUT_MS);
  const hasBody = exchange.body !== undefined;
  let status: number;
  let text: string;
  try {
    const response = await sendToAgent(address, path, {
      method,
      headers: headersOf(address, hasBody),
      body: hasBody ? JSON.stringify(exchange.body) : undefined,
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    status = response.status;
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    throw unreachable(timeout.aborted ? "it did not answer in time" : describeTransport(error), error);
  }
  return parseAnswer(exchange.answer, status, text);
}

/** Sends a request; the response's body may still be streaming. Rejects as `fetch` does. */
export function sendToAgent(address: AgentAddress, path: string, request: RequestInit): Promise<Response> {
  return fetch(new URL(path, address.url), request);
}

export function headersOf(
  { token, chatId, ancestorChatIds, userId }: AgentAddress,
  hasBody: boolean,
): Record<string, string> {
  return {
    authorization: `Bearer ${token}`,
    ...(hasBody && { "content-type": "application/json" }),
    ...(chatId !== undefined && { [CHAT_ID_HEADER]: chatId }),
    ...(userId !== undefined && { [USER_ID_HEADER]: userId }),
    ...(ancestorChatIds?.length && { [ANCESTOR_CHAT_IDS_HEADER]: JSON.stringify(ancestorChatIds) }),
  };
}

/** Throws `AgentError` for a refusal, `AgentUnreachable` for a response that violates the protocol. */
export function parseAnswer<Schema extends z.ZodType>(
  schema: Schema,
  status: number,
  text: string,
): z.infer<Schema> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw unreachable(`it answered ${status} without JSON`, error);
  }
  if (status >= 400) {
    const refusal = agentErrorSchema.safeParse(value);
    if (!refusal.success) throw unreachable(`it answered ${status} without an error body`, refusal.error);
    const { message, field, detail } = refusal.data;
    throw new AgentError(status, message, { field, detail });
  }
  const answer = schema.safeParse(value);
  if (!answer.success) throw unreachable("its answer is not in the protocol", answer.error);
  return answer.data;
}

export function unreachable(reason: string, cause: unknown): AgentUnreachable {
  return new AgentUnreachable(`The workspace agent cannot be reached: ${reason}.`, { cause });
}

/** `fetch` only says "fetch failed"; the reason is its cause. */
export function describeTransport(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message !== "" ? error.cause.message : error.message;
}
