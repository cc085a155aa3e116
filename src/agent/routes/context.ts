/** Routes of instruction files and skills. */
import type { FastifyInstance } from "fastify";
import type { Agent } from "../agent.js";
import { readSkillFileRequestSchema, readSkillRequestSchema } from "../protocol/context.js";
import { AGENT_PATHS } from "../protocol/paths.js";
import { answer, parse } from "./requests.js";

export function addContextRoutes(server: FastifyInstance, { context }: Agent): void {
  server.get(AGENT_PATHS.context, () => context.read());
  server.post(AGENT_PATHS.readSkill, async (request, reply) =>
    answer(reply, await context.readSkill(parse(readSkillRequestSchema, request.body))),
  );
  server.post(AGENT_PATHS.readSkillFile, async (request, reply) =>
    answer(reply, await context.readSkillFile(parse(readSkillFileRequestSchema, request.body))),
  );
}
