/** Sends one answer over HTTP: streamed with its pauses and accidents, or whole. Stops when the client is gone. */
import type { ServerResponse } from "node:http";
import { type Clock, sleep } from "../lib/clock.js";
import { type EventExecutor, createEventExecutor, CHARACTERS_PER_TOKEN, type ScriptStep } from "./answer.js";
import type { DemoRequest } from "./request.js";
import type { Wire, WireWriter } from "./wire.js";

/** Small writes are gathered up to here, which keeps a fast answer of many deltas cheap. */
const GATHERED_CHARACTERS = 16 * 1024;

export type AnswerToSend = {
  request: DemoRequest;
  response: ServerResponse;
  step: ScriptStep;
  wire: Wire;
  clock: Clock;
  /** Unique; the vendor-like ids are made from it. */
  id: string;
};

/** Resolves when the answer is sent or the client has gone, whichever comes first. */
export async function sendAnswer({ request, response, step, wire, clock, id }: AnswerToSend): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  if (step.hang === "before-headers") return untilAborted(gone.signal);
  let calls = 0;
  const newId = () => `call_${id}_${calls++}`;
  const events = createEventExecutor(step, request.sizeCharacters, newId);
  const usage = {
    inputTokens: 0,
    outputTokens: 0,
    reasoningTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  };
  const inputTokens = Math.ceil(request.sizeCharacters / CHARACTERS_PER_TOKEN);
  const writer = wire.createWriter(request, {
    id,
    nowMs: clock.now(),
    usage: { ...usage, inputTokens, ...step.usage },
    rawUsage: step.rawUsage,
  });
  if (!request.isStreaming) return sendWhole(response, events, { writer, wire, clock, signal: gone.signal });
  response.writeHead(200, {
    "content-type": wire.stream?.contentType ?? "text/event-stream",
    "cache-control": "no-cache",
    "request-id": "req_demo",
  });
  response.flushHeaders();
  if (step.hang === "before-events") return untilAborted(gone.signal);
  await sendEvents(response, events, { writer, wire, clock, signal: gone.signal });
}

type Sending = { writer: WireWriter; wire: Wire; clock: Clock; signal: AbortSignal };

async function sendEvents(
  response: ServerResponse,
  events: Iterable<EventExecutor>,
  sending: Sending,
): Promise<void> {
  const { writer, wire, clock, signal } = sending;
  const encoding = wire.stream?.encoding ?? "utf8";
  let gathered = writer.open();
  const flush = async () => {
    const text = gathered;
    gathered = "";
    if (text !== "" && !signal.aborted && !response.write(text, encoding)) await drained(response, signal);
  };
  for (const event of events) {
    if (signal.aborted) return;
    switch (event.type) {
      case "pause":
        await flush();
        await sleep(clock, event.ms, signal);
        break;
      case "hang":
        await flush();
        return untilAborted(signal);
      case "cut":
        // What was written reaches the client first: the accident is in the middle of the answer, not before it.
        response.write(gathered, encoding, () => response.destroy());
        return;
      case "end":
        response.end(gathered, encoding);
        return;
      case "stream-error":
        response.end(gathered + writer.fail(event.errorType, event.message), encoding);
        return;
      case "finish":
        gathered += writer.close(event.reason, event.usage);
        break;
      case "over":
        response.end(gathered + writer.end(), encoding);
        return;
      default:
        gathered += writer.write(event);
        if (gathered.length >= GATHERED_CHARACTERS) await flush();
    }
  }
}

async function sendWhole(
  response: ServerResponse,
  events: Iterable<EventExecutor>,
  { writer, wire, clock, signal }: Sending,
): Promise<void> {
  writer.open();
  let status = 200;
  let body = {};
  for (const event of events) {
    if (signal.aborted) return;
    if (event.type === "pause") await sleep(clock, event.ms, signal);
    else if (event.type === "hang") return untilAborted(signal);
    else if (event.type === "cut" || event.type === "end") {
      response.destroy();
      return;
    } else if (event.type === "stream-error") {
      status = event.errorType === "overloaded_error" ? 529 : 500;
      body = wire.errorBody(status, event.errorType, event.message);
    } else if (event.type === "finish") {
      writer.close(event.reason, event.usage);
      body = writer.body();
    } else if (event.type !== "over") writer.write(event);
  }
  response
    .writeHead(status, { "content-type": "application/json", "request-id": "req_demo" })
    .end(JSON.stringify(body));
}

function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.removeListener("drain", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    response.once("drain", done);
    signal.addEventListener("abort", done, { once: true });
    if (signal.aborted) done();
  });
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
