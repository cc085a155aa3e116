/**
 * Where workspace agents call (`/agents`), and where other replicas come for the calls that this one holds
 * (`/agents/replica`). Both are WebSockets, and whether they are let in is decided before they are opened.
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import { carryStreams, MAX_CARRIER_MESSAGE_BYTES } from "../lib/streams/byte-streams.js";
import type { Clock } from "../lib/clock.js";
import type { Log } from "../lib/log.js";
import { joinStreams } from "../workspaces/tunnels/tunnel-listener.js";
import type { HeldCall, HeldCalls } from "../workspaces/tunnels/agent-connections.js";
import { isPass, REPLICA_PATH } from "../workspaces/tunnels/replica-token.js";
import { CALL_PATH, hashAgentToken, readCall, readPassage } from "../workspaces/tunnels/requests.js";
import { OPEN_GATE, type RateGate } from "./common/rate-gate.js";
import { sendAway } from "./subscriptions/drain-connections.js";
import type { UpgradeTaker } from "./common/upgrades.js";
import { readBearer } from "./auth/viewer.js";
import { refuseUpgrade } from "./subscriptions/websocket.js";

/** Calls of agents and of replicas at one time; beyond it they are answered with 503. */
export const MAX_AGENT_SOCKETS = 10_000;
/** Tokens that are being looked up; whoever guesses must not fill the database's queue. */
const MAX_LOOKUPS = 100;
const GOING_AWAY_CLOSE_CODE = 1001;

export type AgentDoorOptions = {
  held: HeldCalls;
  /** The workspace whose agent has the token with this hash; null when there is none. May reject. */
  findWorkspace: (token: string, tokenHash: Buffer) => Promise<{ id: string; name: string } | null>;
  /** What replicas show each other; null lets none in. */
  replicaSecret: string | null;
  /** How many bad tokens an address may show; any number without it. */
  rateGate?: RateGate;
  clock: Clock;
  log: Log;
};

/** Takes the upgrades at both paths. */
export function createAgentDoor(options: AgentDoorOptions): UpgradeTaker {
  const { held, replicaSecret, rateGate = OPEN_GATE, clock, log } = options;
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MAX_CARRIER_MESSAGE_BYTES,
    perMessageDeflate: false,
  });
  const sockets = new Set<WebSocket>();
  let lookups = 0;
  let isClosing = false;

  const open = (upgrade: Upgrade, use: (socket: WebSocket) => void) => {
    if (isClosing || sockets.size >= MAX_AGENT_SOCKETS) return refuse(upgrade, "503 Service Unavailable");
    server.handleUpgrade(upgrade.request, upgrade.socket, upgrade.head, (socket) => {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
      socket.on("error", (failure) =>
        log.debug({ err: failure }, "The socket of an agent or replica failed"),
      );
      use(socket);
    });
  };

  const takeAgent = async (upgrade: Upgrade) => {
    const call = readCall(upgrade.request.headers);
    const token = readBearer(upgrade.request.headers.authorization);
    if (token === null) return refuse(upgrade, "401 Unauthorized");
    if (call.kind === "refused") return refuse(upgrade, call.status);
    if (lookups >= MAX_LOOKUPS) return refuse(upgrade, "503 Service Unavailable");
    const address = rateGate.addressOf(upgrade.request);
    if ((await rateGate.isFailing(address)) !== null) return refuse(upgrade, "429 Too Many Requests");
    const tokenHash = hashAgentToken(token);
    lookups += 1;
    const workspace = await options.findWorkspace(token, tokenHash).finally(() => (lookups -= 1));
    if (workspace === null) {
      await rateGate.countFailure(address);
      log.warn({ address }, "An agent called with an unknown token");
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
    open(upgrade, (socket) => held.accept(socket, caller));
  };

  const takeReplica = (upgrade: Upgrade) => {
    const { headers } = upgrade.request;
    const passage = readPassage(headers);
    const pass = readBearer(headers.authorization);
    if (replicaSecret === null || passage === null) return refuse(upgrade, "404 Not Found");
    if (pass === null || !isPass(replicaSecret, passage, pass)) return refuse(upgrade, "401 Unauthorized");
    const call = held.of(passage.workspaceId);
    if (call?.place.registrationId !== passage.registrationId) return refuse(upgrade, "404 Not Found");
    open(upgrade, (socket) => relay(socket, call, clock));
  };

  return {
    paths: [CALL_PATH, REPLICA_PATH],
    accept(request, socket, head) {
      const upgrade = { request, socket, head };
      socket.on("error", () => socket.destroy());
      if (isClosing) return refuse(upgrade, "503 Service Unavailable");
      if (request.url?.split("?", 1)[0] === REPLICA_PATH) return takeReplica(upgrade);
      takeAgent(upgrade).catch((error: unknown) => {
        log.error({ err: error }, "An agent that called could not be let in");
        refuse(upgrade, "503 Service Unavailable");
      });
    },
    async close() {
      isClosing = true;
      await sendAway([...sockets].map(toGuest), clock);
      await held.close();
      server.close();
    },
  };
}

type Upgrade = { request: IncomingMessage; socket: Duplex; head: Buffer };

function refuse({ socket }: Upgrade, status: string): void {
  if (!socket.destroyed) refuseUpgrade(socket, status);
}

/** Each stream that the other replica opens becomes one to the agent. Neither outlives the other's connection. */
function relay(socket: WebSocket, call: HeldCall, clock: Clock): void {
  const accept = (stream: Duplex) => {
    try {
      joinStreams(stream, call.streams.open());
    } catch (error) {
      stream.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  };
  carryStreams(socket, { accept, clock });
  const leave = () => socket.close(GOING_AWAY_CLOSE_CODE, "The agent's call has ended");
  call.socket.once("close", leave);
  socket.once("close", () => call.socket.off("close", leave));
}

function toGuest(socket: WebSocket) {
  return {
    leave: () => socket.close(GOING_AWAY_CLOSE_CODE, "Going away"),
    cut: () => socket.terminate(),
    hasLeft:
      socket.readyState === socket.CLOSED
        ? Promise.resolve()
        : new Promise<void>((resolve) => socket.once("close", () => resolve())),
  };
}
