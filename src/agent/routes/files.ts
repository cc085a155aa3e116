/** Routes of files. */
import type { FastifyInstance } from "fastify";
import type { Agent } from "../agent.js";
import {
  editFilesRequestSchema,
  FILE_SIZE_HEADER,
  listDirectoryRequestSchema,
  MAX_FILE_BODY_BYTES,
  readBytesQuerySchema,
  readLinesRequestSchema,
  resolvePathRequestSchema,
  writeFileRequestSchema,
} from "../protocol/files.js";
import { AGENT_PATHS } from "../protocol/paths.js";
import { answer, parse, scopeOf } from "./requests.js";

export function addFileRoutes(server: FastifyInstance, agent: Agent): void {
  server.post(AGENT_PATHS.readLines, (request) =>
    agent.readLines(parse(readLinesRequestSchema, request.body)),
  );
  server.get(AGENT_PATHS.readBytes, async (request, reply) => {
    const outcome = await agent.readBytes(parse(readBytesQuerySchema, request.query));
    if (outcome.kind === "refused") return answer(reply, outcome);
    const { length, fileSize, content } = outcome.value;
    reply.raw.once("close", () => content.destroy());
    return reply
      .type("application/octet-stream")
      .header("content-length", length)
      .header(FILE_SIZE_HEADER, fileSize)
      .send(content);
  });
  server.post(AGENT_PATHS.listDirectory, async (request, reply) =>
    answer(reply, await agent.listDirectory(parse(listDirectoryRequestSchema, request.body))),
  );
  server.post(AGENT_PATHS.resolvePath, async (request, reply) =>
    answer(reply, await agent.resolvePath(parse(resolvePathRequestSchema, request.body))),
  );
  server.post(AGENT_PATHS.writeFile, { bodyLimit: MAX_FILE_BODY_BYTES }, async (request, reply) => {
    const scope = scopeOf(request);
    const written = await agent.writeFile(parse(writeFileRequestSchema, request.body));
    if (written.kind === "done") agent.git.changedFiles(scope, [written.value.path]);
    return answer(reply, written);
  });
  server.post(AGENT_PATHS.editFiles, { bodyLimit: MAX_FILE_BODY_BYTES }, async (request, reply) => {
    const scope = scopeOf(request);
    const edited = await agent.editFiles(parse(editFilesRequestSchema, request.body));
    if (edited.kind === "done") {
      const paths = edited.value.files.map(({ path }) => path);
      agent.git.changedFiles(scope, paths);
    }
    return answer(reply, edited);
  });
}
