// Small in-process deployment of the soak: replicas that share one bus, each with its own clock, memory, worker and HTTP
// server. Their clocks run ten times as fast as real time, to shorten retries.
import { builtInTools } from "../../src/engine/tools/registry.js";
import { encodeId } from "../../src/domain/common/ids.js";
import { ChatHub } from "../../src/events/chats/chat-hub.js";
import { createHttpServer, type ParleyHttp } from "../../src/http/server.js";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { ResponseBudget } from "../../src/resolvers/common/response-budget.js";
import { Loaders } from "../../src/resolvers/common/loaders.js";
import { answerDeltasFromTemplates } from "../../src/resolvers/chats/delta-answers.js";
import { resolvers } from "../../src/resolvers/resolvers.js";
import { buildParleySchema } from "../../src/schema/build.js";
import {
  readChat,
  readChatAndRowsFrom,
  readRowsFrom,
  readVersions,
} from "../../src/store/chats/chat-source.js";
import { startTestAgent } from "../agent/support.js";
import { type Replica, World } from "../engine/world.js";
import { ApiClient } from "../support/clients/api-client.js";
import { type AnswerAsModel, type Deployment, SMALL_CONTEXT } from "./deployment.js";
import { CONTEXT_LIMIT_TOKENS } from "./vendor.js";

const REPLICAS = 3;
const TICK_MS = 10;
/** Time by which the replicas' clocks advance in each tick. */
const STEP_MS = 100;
const HEARTBEAT_MS = 5_000;

type Server = { replica: Replica; hub: ChatHub; http: ParleyHttp; api: ApiClient };

export async function openReplicas(answer: AnswerAsModel): Promise<Deployment> {
  const agent = await startTestAgent();
  const world = await World.open(agent.folder);
  world.answer = answer;
  await world.run(SMALL_CONTEXT, [CONTEXT_LIMIT_TOKENS]);
  const openWorkspace = (chatId: string) => Promise.resolve(agent.connection.forChat(chatId));
  const start = async (): Promise<Server> => {
    const settings = { heartbeatMs: HEARTBEAT_MS };
    const replica = world.replica({ tools: builtInTools, openWorkspace, settings });
    clocks.add(replica.clock);
    await replica.worker.start();
    return { replica, ...(await openEndpoint(world, replica)) };
  };
  const end = async ({ replica, hub, http }: Server) => {
    await Promise.all([hub.close(), http.close()]);
    await replica.worker.close();
    clocks.delete(replica.clock);
  };
  const clocks = new Set([world.modelClock]);
  const stopTime = systemClock.every(TICK_MS, () => {
    for (const clock of clocks) clock.advance(STEP_MS);
  });
  const servers = await Promise.all(Array.from({ length: REPLICAS }, start));
  return {
    workspaceId: encodeId("ws", world.workspaceId),
    modelConfigIds: [encodeId("model", world.modelConfigId)],
    hasListEvents: false,
    server: (chance) => chance.pick(servers).api,
    async strike(chance) {
      const index = chance.below(servers.length);
      const struck = servers[index];
      if (!struck) return "nothing";
      if (chance.percent(60)) {
        // Its chats may be claimed by others although it is alive: it learns of that from their events.
        await world.killLease(struck.replica);
        servers[(index + 1) % servers.length]?.replica.clock.advance(HEARTBEAT_MS);
        return "lease lost";
      }
      servers[index] = await start();
      await end(struck);
      return "replaced";
    },
    stopRedis: () => Promise.resolve(),
    calm: () => Promise.resolve(),
    query: (text, values = []) => world.run(text, values) as Promise<never[]>,
    explainedRepeats: () => null,
    livingWorkers: () => servers.length,
    remarks: () => Promise.resolve([]),
    complaints: () => [],
    async close() {
      await Promise.all(servers.map(end));
      stopTime();
      await world.close();
      await agent.close();
      return [];
    },
  };
}

const schema = buildParleySchema(resolvers);

async function openEndpoint(
  world: World,
  { bus, clock, commands }: Replica,
): Promise<Omit<Server, "replica">> {
  const { database, viewer } = world;
  const log = createLog("silent");
  const source = {
    readChat: (chatId: string) => readChat(database, chatId),
    readRowsFrom: (chatId: string, from: number, limit: number) =>
      readRowsFrom(database, chatId, from, limit),
    readChatAndRowsFrom: (chatId: string, from: number, limit: number) =>
      readChatAndRowsFrom(database, chatId, from, limit),
    readVersions: (chatIds: string[]) => readVersions(database, chatIds),
  };
  const hub = new ChatHub({ source, bus, clock, log });
  const http = await createHttpServer({
    host: "127.0.0.1",
    port: 0,
    schema,
    authenticate: () => Promise.resolve(viewer),
    createContext: (requester, { requestId }) => ({
      viewer: requester,
      requestId,
      database,
      commands,
      keyVariables: new Set<string>(),
      chatEvents: hub,
      version: "0.0.0",
      loaders: new Loaders({
        database,
        viewer: requester,
        readMcpAccountStates: () => Promise.resolve(new Map()),
        noteReads: () => Promise.resolve(),
        budget: new ResponseBudget(16_777_216),
      }),
      noteReads: () => Promise.resolve(),
    }),
    createEventExecutor: answerDeltasFromTemplates,
    health: () => Promise.resolve({ checks: {} }),
    log,
    clock: systemClock,
    isGraphiqlOn: false,
    isProduction: false,
  });
  return { hub, http, api: new ApiClient(http.url, "pt_soak_user") };
}
