/**
 * WebSocket endpoints for workspace agents (`/agents`) and for other replicas that need an agent connected to this one
 * (`/agents/replica`). Both are authenticated before the upgrade.
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import { multiplexStreams, MAX_MULTIPLEXED_MESSAGE_BYTES } from "../lib/streams/byte-streams.js";
import type { Clock } from "../lib/clock.js";
import type { Log } from "../lib/log.js";
import { joinStreams } from "../workspaces/tunnels/tunnel-listener.js";
import type { InboundConnection, AgentConnections } from "../workspaces/tunnels/agent-connections.js";
import { isReplicaToken, REPLICA_PATH } from "../workspaces/tunnels/replica-token.js";
import {
  AGENTS_PATH,
  hashAgentToken,
  readAgentRequest,
  readTunnelTarget,
} from "../workspaces/tunnels/requests.js";
import { OPEN_GATE, type RateGate } from "./common/rate-gate.js";
import { drainConnections, type DrainableConnection } from "./subscriptions/drain-connections.js";
import type { UpgradeHandler } from "./common/upgrades.js";
import { readBearer } from "./auth/viewer.js";
import { refuseUpgrade } from "./subscriptions/websocket.js";

/** Open sockets of agents and replicas; beyond it upgrades are rejected with 503. */
export const MAX_AGENT_SOCKETS = 10_000;
/** Concurrent token lookups; guessing clients must not fill the database's queue. */
const MAX_LOOKUPS = 100;
const GOING_AWAY_CLOSE_CODE = 1001;

export type AgentEndpointOptions = {
  connections: AgentConnections;
  /** The workspace of the agent with this token; null when there is none. May reject. */
  findWorkspace: (token: string, tokenHash: Buffer) => Promise<{ id: string; name: string } | null>;
  /** The secret shared by replicas; null rejects all of them. */
  replicaSecret: string | null;
  /** Limits invalid tokens per address; without it they are unlimited. */
  rateGate?: RateGate;
  clock: Clock;
  log: Log;
};

/** The upgrade handler of both paths. */
export class AgentEndpoint implements UpgradeHandler {
  readonly paths = [AGENTS_PATH, REPLICA_PATH];
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MAX_MULTIPLEXED_MESSAGE_BYTES,
    perMessageDeflate: false,
  });
  readonly #sockets = new Set<WebSocket>();
  readonly #rateGate: RateGate;
  #lookups = 0;
  #isClosing = false;

  constructor(private readonly options: AgentEndpointOptions) {
    this.#rateGate = options.rateGate ?? OPEN_GATE;
  }

  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const upgrade = { request, socket, head };
    socket.on("error", () => socket.destroy());
    if (this.#isClosing) return refuse(upgrade, "503 Service Unavailable");
    if (request.url?.split("?", 1)[0] === REPLICA_PATH) return this.#acceptReplica(upgrade);
    this.#acceptAgent(upgrade).catch((error: unknown) => {
      this.options.log.error({ err: error }, "accepting an agent failed");
      refuse(upgrade, "503 Service Unavailable");
    });
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await drainConnections([...this.#sockets].map(toDrainable), this.options.clock);
    await this.options.connections.close();
    this.#server.close();
  }

  async #acceptAgent(upgrade: Upgrade): Promise<void> {
    const call = readAgentRequest(upgrade.request.headers);
    const token = readBearer(upgrade.request.headers.authorization);
    if (token === null) return refuse(upgrade, "401 Unauthorized");
    if (call.kind === "refused") return refuse(upgrade, call.status);
    if (this.#lookups >= MAX_LOOKUPS) return refuse(upgrade, "503 Service Unavailable");
    const address = this.#rateGate.addressOf(upgrade.request);
    if ((await this.#rateGate.failureWaitMs(address)) !== null)
      return refuse(upgrade, "429 Too Many Requests");
    const tokenHash = hashAgentToken(token);
    const workspace = await this.#findWorkspace(token, tokenHash);
    if (workspace === null) {
      await this.#rateGate.countFailure(address);
      this.options.log.warn({ address }, "agent rejected: unknown token");
      return refuse(upgrade, "401 Unauthorized");
    }
    const { instanceId, isFirst } = call;
    const caller = {
      workspaceId: workspace.id,
      workspaceName: workspace.name,
      tokenHash,
      instanceId,
      isFirst,
    };
    this.#open(upgrade, (socket) => this.options.connections.accept(socket, caller));
  }

  async #findWorkspace(token: string, tokenHash: Buffer) {
    this.#lookups += 1;
    return this.options.findWorkspace(token, tokenHash).finally(() => (this.#lookups -= 1));
  }

  #acceptReplica(upgrade: Upgrade): void {
    const { connections, replicaSecret, clock } = this.options;
    const { headers } = upgrade.request;
    const target = readTunnelTarget(headers);
    const token = readBearer(headers.authorization);
    if (replicaSecret === null || target === null) return refuse(upgrade, "404 Not Found");
    if (token === null || !isReplicaToken(replicaSecret, target, token))
      return refuse(upgrade, "401 Unauthorized");
    const connection = connections.of(target.workspaceId);
    if (connection?.location.registrationId !== target.registrationId)
      return refuse(upgrade, "404 Not Found");
    this.#open(upgrade, (socket) => relay(socket, connection, clock));
  }

  #open(upgrade: Upgrade, use: (socket: WebSocket) => void): void {
    if (this.#isClosing || this.#sockets.size >= MAX_AGENT_SOCKETS)
      return refuse(upgrade, "503 Service Unavailable");
    this.#server.handleUpgrade(upgrade.request, upgrade.socket, upgrade.head, (socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
      socket.on("error", (failure) =>
        this.options.log.debug({ err: failure }, "socket of an agent or replica failed"),
      );
      use(socket);
    });
  }
}

type Upgrade = { request: IncomingMessage; socket: Duplex; head: Buffer };

function refuse({ socket }: Upgrade, status: string): void {
  if (!socket.destroyed) refuseUpgrade(socket, status);
}

/** Connects each stream of the other replica to a new stream of the agent. Closes one socket when the other closes. */
function relay(socket: WebSocket, agent: InboundConnection, clock: Clock): void {
  const accept = (stream: Duplex) => {
    try {
      joinStreams(stream, agent.streams.open());
    } catch (error) {
      stream.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  };
  multiplexStreams(socket, { accept, clock });
  const leave = () => socket.close(GOING_AWAY_CLOSE_CODE, "Agent disconnected");
  agent.socket.once("close", leave);
  socket.once("close", () => agent.socket.off("close", leave));
}

function toDrainable(socket: WebSocket): DrainableConnection {
  return {
    requestClose: () => socket.close(GOING_AWAY_CLOSE_CODE, "Going away"),
    terminate: () => socket.terminate(),
    closed:
      socket.readyState === socket.CLOSED
        ? Promise.resolve()
        : new Promise<void>((resolve) => socket.once("close", () => resolve())),
  };
}
