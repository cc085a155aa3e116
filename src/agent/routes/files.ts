/** Files over HTTP. */
import type { FastifyInstance } from "fastify";
import type { Agent } from "../agent.js";
import {
  AGENT_PATHS,
  editFilesRequestSchema,
  MAX_FILE_BODY_BYTES,
  readLinesRequestSchema,
  writeFileRequestSchema,
} from "../protocol.js";
import { answer, parse } from "./requests.js";

export function addFileRoutes(server: FastifyInstance, agent: Agent): void {
  server.post(AGENT_PATHS.readLines, (request) =>
    agent.readLines(parse(readLinesRequestSchema, request.body)),
  );
  server.post(AGENT_PATHS.writeFile, { bodyLimit: MAX_FILE_BODY_BYTES }, async (request, reply) =>
    answer(reply, await agent.writeFile(parse(writeFileRequestSchema, request.body))),
  );
  server.post(AGENT_PATHS.editFiles, { bodyLimit: MAX_FILE_BODY_BYTES }, async (request, reply) =>
    answer(reply, await agent.editFiles(parse(editFilesRequestSchema, request.body))),
  );
}
