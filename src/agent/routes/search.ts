/** Routes of searches; a search is cancelled when its client disconnects. */
import type { FastifyInstance } from "fastify";
import type { Agent } from "../agent.js";
import { AGENT_PATHS } from "../protocol/paths.js";
import { findFilesRequestSchema, searchFilesRequestSchema } from "../protocol/search.js";
import { answer, disconnection, parse } from "./requests.js";

export function addSearchRoutes(server: FastifyInstance, { search }: Agent): void {
  server.post(AGENT_PATHS.findFiles, async (request, reply) => {
    const wanted = parse(findFilesRequestSchema, request.body);
    return answer(reply, await search.findFiles(wanted, disconnection(reply)));
  });
  server.post(AGENT_PATHS.searchFiles, async (request, reply) => {
    const wanted = parse(searchFilesRequestSchema, request.body);
    return answer(reply, await search.searchFiles(wanted, disconnection(reply)));
  });
}
