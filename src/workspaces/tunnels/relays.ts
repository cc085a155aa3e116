/**
 * Relays to agents that are connected to other replicas: for each agent one WebSocket to its replica, opened when it is
 * first needed and closed when it has been idle for a while.
 */
import { WebSocket } from "ws";
import { tokenWithin } from "../../agent/protocol/dial-out.js";
import type { AgentLocation } from "../../domain/workspaces/workspace.js";
import {
  multiplexStreams,
  MAX_MULTIPLEXED_MESSAGE_BYTES,
  type ByteStreams,
} from "../../lib/streams/byte-streams.js";
import type { Clock } from "../../lib/clock.js";
import { runDetached } from "../../lib/run-context.js";
import type { Log } from "../../lib/log.js";
import { AgentUnreachable, connectAgent, type AgentConnection } from "../agent-client/agent-connection.js";
import { openTunnelListener } from "./tunnel-listener.js";
import { createReplicaToken, REGISTRATION_HEADER, REPLICA_PATH, WORKSPACE_HEADER } from "./replica-token.js";

/** Replicas are near each other. */
const HANDSHAKE_TIMEOUT_MS = 5_000;
/** A relay without streams at two checks in a row is closed. */
const IDLE_CHECK_MS = 60_000;
const NORMAL_CLOSE_CODE = 1000;

/** Waiting does not help: the operator has to change the configuration. */
export class ReplicasNotConfigured extends AgentUnreachable {}

type Relay = { socket: WebSocket; streams: ByteStreams; url: string };

export type RelaysOptions = {
  /** Shared by all replicas of the deployment; null = they do not accept each other's relays. */
  secret: string | null;
  clock: Clock;
  log: Log;
};

export class Relays {
  /** By the agent's registration. */
  readonly #relays = new Map<string, Promise<Relay>>();
  #isClosed = false;

  constructor(private readonly options: RelaysOptions) {}

  /** Rejects with `AgentUnreachable`. */
  async connection(
    workspaceId: string,
    location: AgentLocation,
    tokenHash: Buffer,
  ): Promise<AgentConnection> {
    const { registrationId, instanceId } = location;
    const known = this.#relays.get(registrationId);
    const relay = await (known ?? this.#open(workspaceId, location));
    const token = tokenWithin(tokenHash, instanceId);
    return connectAgent({ url: relay.url, token, instanceId, clock: this.options.clock });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const relays = await Promise.allSettled(this.#relays.values());
    for (const relay of relays) if (relay.status === "fulfilled") relay.value.socket.terminate();
  }

  #open(workspaceId: string, { registrationId, replicaUrl }: AgentLocation): Promise<Relay> {
    const { secret } = this.options;
    if (secret === null || replicaUrl === null) {
      throw new ReplicasNotConfigured(
        "The workspace's agent is connected to another replica, which cannot be reached: PARLEY_REPLICA_URL and " +
          "PARLEY_REPLICA_SECRET must be set on every replica.",
      );
    }
    if (this.#isClosed) throw new AgentUnreachable("The server is closing.");
    const token = createReplicaToken(secret, { workspaceId, registrationId });
    const headers = {
      authorization: `Bearer ${token}`,
      [WORKSPACE_HEADER]: workspaceId,
      [REGISTRATION_HEADER]: registrationId,
    };
    // Shared with later requests.
    const opening = runDetached(() => this.#dial(replicaUrl, headers));
    this.#relays.set(registrationId, opening);
    const forget = () => this.#relays.delete(registrationId);
    void opening.then(({ socket }) => socket.once("close", forget), forget);
    return opening;
  }

  async #dial(replicaUrl: string, headers: Record<string, string>): Promise<Relay> {
    const { clock, log } = this.options;
    const socket = new WebSocket(addressOf(replicaUrl), {
      headers,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      maxPayload: MAX_MULTIPLEXED_MESSAGE_BYTES,
      perMessageDeflate: false,
    });
    const streams = await new Promise<ByteStreams>((resolve, reject) => {
      socket.once("open", () => resolve(multiplexStreams(socket, { clock })));
      socket.on("error", (cause) =>
        reject(
          new AgentUnreachable(
            `The replica that the agent is connected to cannot be reached: ${cause.message}.`,
            {
              cause,
            },
          ),
        ),
      );
    });
    const listener = await openTunnelListener(() => streams.open(), log);
    socket.once("close", () => listener.close());
    if (socket.readyState !== socket.OPEN) listener.close();
    closeWhenIdle(socket, streams, clock);
    return { socket, streams, url: listener.url };
  }
}

function addressOf(replicaUrl: string): URL {
  const url = new URL(replicaUrl);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.pathname = url.pathname.replace(/\/+$/, "") + REPLICA_PATH;
  return url;
}

function closeWhenIdle(socket: WebSocket, streams: ByteStreams, clock: Clock): void {
  let wasIdle = false;
  const cancel = clock.every(IDLE_CHECK_MS, () => {
    const isIdle = streams.count() === 0;
    if (isIdle && wasIdle) socket.close(NORMAL_CLOSE_CODE, "Idle");
    wasIdle = isIdle;
  });
  socket.once("close", cancel);
}
