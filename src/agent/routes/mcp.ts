/** Routes of the workspace's MCP servers. */
import type { FastifyInstance } from "fastify";
import type { Agent } from "../agent.js";
import { MAX_FILE_BODY_BYTES } from "../protocol/files.js";
import { mcpCallRequestSchema, mcpToolsRequestSchema } from "../protocol/mcp.js";
import { AGENT_PATHS } from "../protocol/paths.js";
import { answer, disconnection, parse } from "./requests.js";

export function addMcpRoutes(server: FastifyInstance, { mcpServers }: Agent): void {
  server.post(AGENT_PATHS.mcpTools, (request) => {
    const { permissions, refresh, waitMs } = parse(mcpToolsRequestSchema, request.body);
    return mcpServers.list({ permissions, isForced: refresh, waitMs });
  });
  // Arguments may be whole files.
  server.post(AGENT_PATHS.mcpCall, { bodyLimit: MAX_FILE_BODY_BYTES }, async (request, reply) =>
    answer(reply, await mcpServers.call(parse(mcpCallRequestSchema, request.body), disconnection(reply))),
  );
}
