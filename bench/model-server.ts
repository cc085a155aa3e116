/**
 * The model, as a program of its own: it speaks Anthropic's format as the demo model does, and stamps each delta
 * at the moment of its sending. Each message says how many deltas it wants; the bench asks what the last prompt was.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
import type { JsonObject } from "../src/domain/common/json.js";
import { readDirections } from "../src/demo-model/markers.js";
import { type DemoTurn, lastUserText } from "../src/demo-model/request.js";
import { anthropicWire } from "../src/demo-model/wire-anthropic.js";
import { serveBench } from "./child-program.js";
import { stamp } from "./stamps.js";

const CHARACTERS_PER_TOKEN = 4;

let last: { body: JsonObject; characters: number } = { body: {}, characters: 0 };

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const text = Buffer.concat(await request.toArray()).toString("utf8");
  const body = JSON.parse(text) as JsonObject;
  last = { body, characters: text.length };
  const parsed = {
    headers: {},
    body,
    sizeCharacters: text.length,
    ...anthropicWire.readRequest(body, request.url ?? "/"),
  };
  const wanted = readDirections(lastUserText(parsed));
  const callsTool = resultsSinceUser(parsed.turns) < Number(wanted.get("steps") ?? 0);
  const deltas = callsTool ? 0 : Number(wanted.get("deltas") ?? 0);
  const delayMs = Number(wanted.get("delay") ?? 0);
  const usage = {
    inputTokens: Math.ceil(text.length / CHARACTERS_PER_TOKEN),
    outputTokens: deltas,
    reasoningTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  };
  const asked = { ...parsed, wire: "anthropic" as const };
  const writer = anthropicWire.createWriter(asked, { id: randomUUID(), nowMs: Date.now(), usage });
  response.writeHead(200, { "content-type": "text/event-stream", "request-id": "req_bench" });
  response.write(writer.open());
  // Without pauses all deltas leave in one packet, as they do where a proxy gathers them.
  if (delayMs === 0) response.cork();
  for (let delta = 0; delta < deltas; delta += 1) {
    // Chats that begin together would march in step, and then wake each program once for all of them.
    if (delayMs > 0) await setTimeout(delta > 0 ? delayMs : Math.random() * delayMs);
    response.write(writer.write({ type: "text", text: stamp() }));
  }
  if (callsTool) {
    response.write(
      writer.write({ type: "tool-call", id: `call_${randomUUID()}`, name: TOOL, argumentsText: "{}" }),
    );
  }
  // Node 24 loses what is still corked at the end.
  if (delayMs === 0) response.uncork();
  response.end(writer.close(callsTool ? "tool-calls" : "stop", usage) + writer.end());
}

/** The cheapest tool that there is: one request to the agent, no process, no file. */
const TOOL = "process_list";

/** Steps whose tools have been run since the last user message. */
function resultsSinceUser(turns: readonly DemoTurn[]): number {
  const lastUser = turns.findLastIndex(({ role }) => role === "user");
  return turns.slice(lastUser + 1).filter(({ role }) => role === "results").length;
}

await serveBench(async () => {
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    answer: () => last,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
});
