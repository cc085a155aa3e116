// Demo model behind a gate that the test opens: each chat has its own lines; an answer can pause anywhere in its stream,
// and then continues or fails. A test that has waited for a pause knows that the model was called.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { ScriptStep } from "../../../src/demo-model/answer.js";
import { type DemoRequest, objectOf } from "../../../src/demo-model/request.js";
import { startDemoModel } from "../../../src/demo-model/server.js";
import { promptProblems } from "./prompt-rules.js";

/** Before anything is sent, or after so many of Anthropic's deltas of that type. */
export type PauseAt = "before-headers" | { delta: string; count: number };
/** One answer, and where it pauses. */
export type Line = ScriptStep & { pauseAt?: PauseAt };
/** How a paused answer goes on: as scripted, connection destroyed, ended early, or with an error event. */
export type Sequel = "go-on" | "cut" | "end" | "overloaded";

/** The answer when a chat has no line left. */
const LAST_LINE: ScriptStep = { text: "Done." };
const CALL_HEADER = "parley-staged-call";

/** The model's lines and calls of one chat. */
export class StagedChat {
  /** Requests so far. */
  calls = 0;
  /** Faults for which a real vendor would have refused a prompt. */
  readonly problems: string[] = [];
  readonly #open = new Set<Promise<unknown>>();
  readonly #pauses: Promised<(sequel: Sequel) => void>[] = [];

  constructor(readonly lines: readonly Line[]) {}

  /** Resolves when the answer to the call (counted from 1) is paused, to the function that resumes it. */
  reached(call: number): Promise<(sequel: Sequel) => void> {
    return this.pauseOf(call).promise;
  }

  /** Resolves when no answer's connection is open. */
  async silent(): Promise<void> {
    await Promise.all(this.#open);
  }

  /** Counts a request; returns its number. */
  begin(body: string, closed: Promise<unknown>): number {
    this.#open.add(closed);
    this.problems.push(...promptProblems(objectOf(JSON.parse(body))));
    return (this.calls += 1);
  }

  pauseOf(call: number): Promised<(sequel: Sequel) => void> {
    return (this.#pauses[call] ??= promised());
  }
}

type Promised<T> = { promise: Promise<T>; resolve: (value: T) => void };

function promised<T>(): Promised<T> {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((keep) => (resolve = keep));
  return { promise, resolve };
}

export type StagedModel = {
  /** Settings of a server that uses this model; its context has 200,000 tokens. */
  settings: Record<string, string>;
  /** The lines of the chat whose first message names `cue`. */
  cast(cue: string, lines: readonly Line[]): StagedChat;
  close(): Promise<void>;
};

export async function startStagedModel(): Promise<StagedModel> {
  const byCue = new Map<string, StagedChat>();
  const byChat = new Map<string, StagedChat>();
  const script = ({ headers }: DemoRequest): ScriptStep => {
    const chat = byChat.get(headers["parley-chat-id"] ?? "");
    return chat?.lines[Number(headers[CALL_HEADER]) - 1] ?? LAST_LINE;
  };
  const demo = await startDemoModel({ host: "127.0.0.1", port: 0, script });
  const play = async (request: IncomingMessage, response: ServerResponse) => {
    const chatId = String(request.headers["parley-chat-id"] ?? "");
    const body = await textOf(request);
    // Later prompts may lack it: an edit or a summary may have replaced it.
    const cue = [...byCue.keys()].find((known) => body.includes(known));
    const chat = byChat.get(chatId) ?? byCue.get(cue ?? "");
    if (!chat) return void response.writeHead(404).end();
    byChat.set(chatId, chat);
    await perform({ chat, demoUrl: demo.url, request, body, response });
  };
  const server = createServer((request, response) => {
    play(request, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    settings: { ANTHROPIC_API_KEY: "none", ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}` },
    cast(cue, lines) {
      const chat = new StagedChat(lines);
      byCue.set(cue, chat);
      return chat;
    },
    async close() {
      await stop(server);
      await demo.close();
    },
  };
}

type Performance = {
  chat: StagedChat;
  demoUrl: string;
  request: IncomingMessage;
  body: string;
  response: ServerResponse;
};

async function perform({ chat, demoUrl, request, body, response }: Performance): Promise<void> {
  const call = chat.begin(body, once(response, "close"));
  const pauseAt = chat.lines[call - 1]?.pauseAt;
  const goesOn = async () => {
    const sequel = promised<Sequel>();
    chat.pauseOf(call).resolve(sequel.resolve);
    return sequel.promise;
  };
  if (pauseAt === "before-headers" && hasAccident(response, await goesOn())) return;
  const answer = await fetch(`${demoUrl}${request.url}`, {
    method: "POST",
    headers: { ...stringHeaders(request), [CALL_HEADER]: String(call) },
    body,
  });
  const text = await answer.text();
  const forwarded = ["content-type", "retry-after"].flatMap((name) => {
    const value = answer.headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  response.writeHead(answer.status, Object.fromEntries(forwarded));
  if (typeof pauseAt !== "object") return void response.end(text);
  const offset = offsetAfter(text, pauseAt);
  response.write(text.slice(0, offset));
  if (!hasAccident(response, await goesOn())) response.end(text.slice(offset));
}

/** Whether that is the end of the answer. */
function hasAccident(response: ServerResponse, sequel: Sequel): boolean {
  if (sequel === "go-on") return false;
  if (sequel === "cut") response.destroy();
  else {
    if (!response.headersSent) response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(sequel === "end" ? "" : OVERLOADED);
  }
  return true;
}

const OVERLOADED = `event: error
data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}

`;

function offsetAfter(text: string, { delta, count }: { delta: string; count: number }): number {
  let offset = 0;
  for (let seen = 0; seen < count; seen += 1) {
    const found = text.indexOf(`"type":"${delta}"`, offset);
    if (found < 0) throw new Error(`The answer has fewer than ${count} deltas of type ${delta}.`);
    offset = text.indexOf("\n\n", found) + 2;
  }
  return offset;
}

function stringHeaders({ headers }: IncomingMessage): Record<string, string> {
  const own = new Set(["host", "connection", "content-length", "accept-encoding", "transfer-encoding"]);
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === "string" && !own.has(name) ? [[name, value]] : [],
    ),
  );
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => (error ? reject(error) : resolve()));
    server.closeAllConnections();
  });
}
