/**
 * The demo model's HTTP server: simulates Anthropic, OpenAI, Google and Bedrock on loopback, so that everything runs with
 * real SDKs over real sockets and without a key. Markers in messages and scripts make it fail in every known way.
 */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonObject, JsonValue } from "../domain/common/json.js";
import { type Clock, systemClock } from "../lib/clock.js";
import { CHARACTERS_PER_TOKEN, type ScriptStep } from "./answer.js";
import { knownLimits, type ModelLimits } from "./limits.js";
import { type DemoRequest, objectOf, type WireName } from "./request.js";
import { createStepChooser, type Script } from "./script.js";
import { sendAnswer } from "./send-answer.js";
import { anthropicWire } from "./wire-anthropic.js";
import { bedrockWire, isBedrockPath } from "./wire-bedrock.js";
import { googleModels, googleWire, isGoogleCall } from "./wire-google.js";
import { openaiChatWire } from "./wire-openai-chat.js";
import { openaiResponsesWire } from "./wire-openai-responses.js";
import type { Wire } from "./wire.js";

/** The newest requests are recorded for tests: bounded in number and total size. */
const RECORDED_REQUESTS = 1_000;
/** Tests need only a few of them. */
const RECORDED_REFUSALS = 100;
const RECORDED_CHARACTERS = 64 * 1024 * 1024;
/** Vendors refuse bodies above 32 MB; twice that leaves room for tests of just that. */
const BODY_LIMIT_BYTES = 64 * 1024 * 1024;

const DEMO_MODEL_NAME = "demo";

const WIRES: Record<WireName, Wire> = {
  anthropic: anthropicWire,
  "openai-responses": openaiResponsesWire,
  "openai-chat": openaiChatWire,
  google: googleWire,
  bedrock: bedrockWire,
};

/** All also without `/v1`, for base URLs that carry it already; Azure's begin with `/openai`. */
const ENDPOINTS: Record<string, WireName> = {
  "/messages": "anthropic",
  "/responses": "openai-responses",
  "/chat/completions": "openai-chat",
};

const BASE_PATHS = /^(\/openai(\/deployments\/[^/]+)?)?(\/v1)?(?=\/)/;

export type DemoModelOptions = {
  host: string;
  /** 0 = any free port. */
  port: number;
  script?: Script;
  clock?: Clock;
  /** What a model takes at most; by default what is known of the real one of that name. */
  limits?: (model: string) => ModelLimits;
};

/** A request that the vendor would refuse. It uses up no step of a script. */
export type DemoRefusal = { wire: WireName; request: JsonObject; answer: JsonObject };

export type DemoModel = {
  /** Without a path: `http://127.0.0.1:4000`. OpenAI clients append `/v1` or not, both work. */
  url: string;
  /** The newest requests, oldest first. */
  requests: readonly DemoRequest[];
  /** The newest refused ones, oldest first. */
  refusals: readonly DemoRefusal[];
  /** Ends all streams, also hanging ones, and stops listening. */
  close(): Promise<void>;
};

/** Starts listening; rejects when the address is taken. */
export async function startDemoModel(options: DemoModelOptions): Promise<DemoModel> {
  const requests: DemoRequest[] = [];
  const refusals: DemoRefusal[] = [];
  const judge = { limits: options.limits ?? knownLimits, refusals };
  const chooseStep = createStepChooser(options.script);
  const clock = options.clock ?? systemClock;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const demoRequest = await receive(request, response, judge);
    if (demoRequest === undefined) return;
    record(requests, demoRequest);
    await reply(demoRequest, response, chooseStep, clock);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) =>
      response.destroy(error instanceof Error ? error : undefined),
    );
  });
  await listen(server, options);
  const { port, family, address } = server.address() as AddressInfo;
  const host = family === "IPv6" ? `[${address}]` : address;
  return { url: `http://${host}:${port}`, requests, refusals, close: () => close(server) };
}

/** The newest request is always recorded, however large. */
function record(requests: DemoRequest[], request: DemoRequest): void {
  requests.push(request);
  let characters = requests.reduce((total, { sizeCharacters }) => total + sizeCharacters, 0);
  while (requests.length > 1 && (requests.length > RECORDED_REQUESTS || characters > RECORDED_CHARACTERS)) {
    characters -= requests.shift()?.sizeCharacters ?? 0;
  }
}

type Judge = { limits: (model: string) => ModelLimits; refusals: DemoRefusal[] };

/** Reads a call; answers everything else itself and returns undefined. */
async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  judge: Judge,
): Promise<DemoRequest | undefined> {
  const address = new URL(request.url ?? "/", "http://demo").pathname.replace(/\/+$/, "");
  const path = address.replace(BASE_PATHS, "");
  const models = request.method === "GET" ? modelsAt(address, path) : undefined;
  if (models !== undefined) {
    sendJson(response, 200, models);
    return undefined;
  }
  const wireName = request.method === "POST" ? wireOf(address, path) : undefined;
  if (wireName === undefined) {
    const message = `No such endpoint: ${path || "/"}`;
    sendJson(response, 404, openaiChatWire.errorBody(404, "not_found_error", message));
    return undefined;
  }
  const wire = WIRES[wireName];
  const text = await readBody(request);
  const body = text === undefined ? undefined : parseBody(text);
  if (text === undefined || body === undefined) {
    const status = text === undefined ? 413 : 400;
    sendJson(response, status, wire.errorBody(status, undefined, "The body is too large or no JSON object."));
    return undefined;
  }
  const read = wire.readRequest(body, address);
  const promptTokens = Math.ceil(text.length / CHARACTERS_PER_TOKEN);
  const refusal = wire.refusal(body, address, { ...judge.limits(read.model), promptTokens });
  if (refusal !== undefined) {
    recordRefusal(judge.refusals, { wire: wireName, request: body, answer: refusal.body });
    setHeaders(response, wire.errorHeaders?.(refusal.status, undefined));
    sendJson(response, refusal.status, refusal.body);
    return undefined;
  }
  return { wire: wireName, headers: flatHeaders(request), body, sizeCharacters: text.length, ...read };
}

function recordRefusal(refusals: DemoRefusal[], refusal: DemoRefusal): void {
  refusals.push(refusal);
  if (refusals.length > RECORDED_REFUSALS) refusals.shift();
}

/** Repeated headers are joined, as on the wire. */
function flatHeaders(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(", ") : (value ?? ""),
    ]),
  );
}

/** A vendor's list of models, or Google's entry of one; undefined for other addresses. */
function modelsAt(address: string, path: string): JsonObject | undefined {
  return path === "/models" ? modelList() : googleModels(address, DEMO_MODEL_NAME);
}

/** Gemini's and Bedrock's model and verb are part of the address; the others have one address each. */
function wireOf(address: string, path: string): WireName | undefined {
  if (isBedrockPath(address)) return "bedrock";
  return isGoogleCall(address) ? "google" : ENDPOINTS[path];
}

async function reply(
  request: DemoRequest,
  response: ServerResponse,
  chooseStep: (request: DemoRequest) => ScriptStep,
  clock: Clock,
): Promise<void> {
  const wire = WIRES[request.wire];
  const step = chooseStep(request);
  if (step.error) {
    const { status, type, message, body, headers } = step.error;
    const answer = body ?? wire.errorBody(status, type, message ?? "The demo model was instructed to fail.");
    setHeaders(response, { ...wire.errorHeaders?.(status, type), ...headers });
    if (typeof answer === "string") response.writeHead(status, { "content-type": "text/html" }).end(answer);
    else sendJson(response, status, answer);
    return;
  }
  await sendAnswer({
    request,
    response,
    step,
    wire,
    clock,
    id: randomUUID().replaceAll("-", "").slice(0, 24),
  });
}

function modelList(): JsonObject {
  const model = { id: DEMO_MODEL_NAME, object: "model", type: "model", created: 0, owned_by: "parley" };
  const details = { display_name: "Demo model", created_at: "1970-01-01T00:00:00Z" };
  return {
    object: "list",
    data: [{ ...model, ...details }],
    has_more: false,
    first_id: model.id,
    last_id: model.id,
  };
}

/** The body as text; undefined when it is larger than the limit. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // The rest is read and discarded, so that the response can be sent at all.
    if (bytes <= BODY_LIMIT_BYTES) chunks.push(chunk);
  }
  return bytes > BODY_LIMIT_BYTES ? undefined : Buffer.concat(chunks).toString("utf8");
}

function parseBody(text: string): JsonObject | undefined {
  try {
    const parsed: JsonValue = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)
      ? objectOf(parsed)
      : undefined;
  } catch {
    return undefined;
  }
}

function setHeaders(response: ServerResponse, headers: Record<string, string> = {}): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
}

function sendJson(response: ServerResponse, status: number, body: JsonObject): void {
  response.writeHead(status, { "content-type": "application/json", "request-id": "req_demo" });
  response.end(JSON.stringify(body));
}

function listen(server: Server, { host, port }: DemoModelOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.removeListener("error", reject);
      resolve();
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)));
    server.closeAllConnections();
  });
}
