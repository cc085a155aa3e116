// Subscribes over a WebSocket or an event stream, up to the first event or error.
import { createClient } from "graphql-ws";
import { WebSocket } from "ws";
import type { ApiClient, ApiError } from "../../support/clients/api-client.js";
import { EventStreamReader } from "../../support/clients/event-stream-reader.js";
import { codesOf } from "./evaluate.js";
import type { Question } from "./entries.js";

type Result = { data?: Record<string, unknown> | null; errors?: readonly ApiError[] };
/** Turns received data into an outcome. */
export type Reading = (data: Record<string, unknown>) => string;
export type Follow = (api: ApiClient, question: Question, reading?: Reading) => Promise<string>;

const isThere: Reading = () => "shown";

function outcomeOf({ data, errors = [] }: Result, reading: Reading): string {
  if (errors.length > 0) return codesOf(errors);
  return data ? reading(data) : "nothing";
}

/** WebSockets report `UNAUTHENTICATED` by closing. */
export const followOverSocket: Follow = async (api, { query, variables }, reading = isThere) => {
  const client = createClient({
    url: `${api.url.replace("http", "ws")}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { token: api.token },
    retryAttempts: 0,
    lazyCloseTimeout: 0,
  });
  try {
    const stream = client.iterate({ query, variables: variables as Record<string, unknown> });
    for await (const result of stream) return outcomeOf(result as Result, reading);
    return "nothing";
  } catch (ended) {
    if (Array.isArray(ended)) return codesOf(ended as ApiError[]);
    const { code } = ended as { code?: unknown };
    return code === 4403 ? "UNAUTHENTICATED" : `closed with ${String(code)}`;
  } finally {
    await client.dispose();
  }
};

export const followAsEvents: Follow = async (api, { query, variables }, reading = isThere) => {
  const endpoint = { streamUrl: `${api.url}/graphql/stream` };
  const request = { token: api.token, variables: variables as Record<string, unknown> };
  const reader = await EventStreamReader.open(endpoint, query, request);
  try {
    if (reader.response.status === 401) return "UNAUTHENTICATED";
    const event = await reader.next();
    return event?.event === "next"
      ? outcomeOf(event.data as Result, reading)
      : `${String(reader.response.status)} ${event?.event}`;
  } finally {
    reader.leave();
  }
};
