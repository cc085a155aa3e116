/** Route of a running command's live output. */
import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { systemClock } from "../../lib/clock.js";
import type { Agent } from "../agent.js";
import { refused } from "../outcome.js";
import { followOutput, type FollowOptions } from "../process/follow-output.js";
import { MAX_FOLLOWERS, type OutputFeed } from "../process/output-feed.js";
import { processStreamQuerySchema } from "../protocol/process-stream.js";
import { answer, disconnection, parse, refuse, scopeOf } from "./requests.js";

/** Buffer for a slow client; with the socket's own buffer the most that a follower costs. */
const BUFFER_BYTES = 64 * 1024;

export function addProcessStreamRoute(server: FastifyInstance, { processes }: Agent): void {
  server.get<{ Params: { id: string } }>("/v1/processes/:id/stream", (request, reply) => {
    const { from } = parse(processStreamQuerySchema, request.query);
    const feed = processes.feed(request.params.id, scopeOf(request));
    if (feed.kind === "refused") return answer(reply, feed);
    if (!feed.value.hasCapacity)
      return refuse(reply, refused(429, `${MAX_FOLLOWERS} follow this process already.`));
    const lines = linesOf(feed.value, { from, clock: systemClock, signal: disconnection(reply) });
    const body = Readable.from(lines, { objectMode: false, highWaterMark: BUFFER_BYTES });
    return reply.header("content-type", "application/x-ndjson").send(body);
  });
}

async function* linesOf(feed: OutputFeed, options: FollowOptions): AsyncGenerator<string> {
  for await (const line of followOutput(feed, options)) yield `${JSON.stringify(line)}\n`;
}
