/**
 * The inbound connections of workspace agents at this replica. A connection: open → checked → registered → ended. It is
 * registered when the agent has answered through it and the database has granted it the workspace's registration, which
 * the database may later give to another one.
 */
import { randomUUID } from "node:crypto";
import type { WebSocket } from "ws";
import {
  REGISTERED_MESSAGE,
  REPLACED_CLOSE_CODE,
  tokenWithin,
  UNUSABLE_CLOSE_CODE,
} from "../../agent/protocol/dial-out.js";
import type { AgentLocation, RegisteredAgent } from "../../domain/workspaces/workspace.js";
import { multiplexStreams, type ByteStreams } from "../../lib/streams/byte-streams.js";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import { connectAgent, type AgentConnection } from "../agent-client/agent-connection.js";
import { openTunnelListener, type TunnelListener } from "./tunnel-listener.js";
import type { ConnectingAgent, AgentLocations, Registrations } from "./ports.js";

/** Registrations that are not renewed expire after this, so that those of a crashed replica do. */
const REGISTRATION_LEASE_MS = 30_000;
/** Three attempts before a lease expires. */
const RENEWAL_INTERVAL_MS = 10_000;
/** A connected agent answers at once, unless something in between drops the traffic. */
const HEALTH_TIMEOUT_MS = 10_000;
/** RFC 6455: normal closure; the agent shuts down. */
const NORMAL_CLOSE_CODE = 1000;
/** IANA's registry: try again later. */
const TRY_AGAIN_CLOSE_CODE = 1013;

export type InboundConnection = {
  agent: ConnectingAgent;
  location: AgentLocation;
  socket: WebSocket;
  streams: ByteStreams;
  connection: AgentConnection;
};

export type AgentConnectionsOptions = {
  registrations: Registrations;
  locations: AgentLocations;
  /** Where other replicas reach this one; null = they cannot. */
  replicaUrl: string | null;
  clock: Clock;
  log: Log;
};

export class AgentConnections {
  /** By workspace. */
  readonly #registered = new Map<string, InboundConnection>();
  readonly #pending = new Set<Promise<void>>();
  readonly #cancelRenewal: () => void;
  #isRenewing = false;

  constructor(private readonly options: AgentConnectionsOptions) {
    this.#cancelRenewal = options.clock.every(RENEWAL_INTERVAL_MS, () => this.#track(this.#renew()));
  }

  get count(): number {
    return this.#registered.size;
  }

  /** The registered connection of a workspace's agent. */
  of(workspaceId: string): InboundConnection | undefined {
    return this.#registered.get(workspaceId);
  }

  /** Takes over the open socket of an agent; closes it when the agent cannot be registered. */
  accept(socket: WebSocket, agent: ConnectingAgent): void {
    this.#track(this.#accept(socket, agent));
  }

  /** Closes a connection that lost its registration, with the code that makes its agent stand by. */
  drop({ socket, agent }: InboundConnection, reason: string): void {
    const { workspaceId, workspaceName, instanceId } = agent;
    this.options.log.warn(
      { workspaceId, workspaceName, instanceId, reason },
      "workspace agent's connection dropped",
    );
    socket.close(REPLACED_CLOSE_CODE, reason);
    this.#forget(workspaceId, socket);
  }

  /** Stops renewing, and waits for pending work. The sockets are closed by the endpoint that accepted them. */
  async close(): Promise<void> {
    this.#cancelRenewal();
    await Promise.all(this.#pending);
  }

  async #accept(socket: WebSocket, agent: ConnectingAgent): Promise<void> {
    const { log, clock } = this.options;
    const { workspaceId, workspaceName, tokenHash, instanceId } = agent;
    const streams = multiplexStreams(socket, { clock });
    let listener: TunnelListener | undefined;
    socket.once("close", () => listener?.close());
    try {
      listener = await openTunnelListener(() => streams.open(), log);
      const token = tokenWithin(tokenHash, instanceId);
      const connection = connectAgent({ url: listener.url, token, instanceId, clock });
      const facts = await readFacts(connection, instanceId);
      await this.#register({ agent, socket, streams, connection }, facts);
    } catch (error) {
      log.warn({ err: error, workspaceId, workspaceName }, "workspace agent connected but is unusable");
      socket.close(UNUSABLE_CLOSE_CODE, "The agent does not answer through its connection");
    } finally {
      if (socket.readyState !== socket.OPEN) listener?.close();
    }
  }

  async #register(open: Omit<InboundConnection, "location">, facts: RegisteredAgent): Promise<void> {
    const { registrations, locations, replicaUrl, log } = this.options;
    const { agent, socket } = open;
    const { workspaceId, workspaceName, tokenHash, instanceId, isFirst } = agent;
    const registrationId = randomUUID();
    const leaseMs = REGISTRATION_LEASE_MS;
    let isClaimed: boolean;
    try {
      isClaimed = await registrations.claim({
        ...{ workspaceId, tokenHash, registrationId, agent: facts, isFirst, leaseMs },
      });
    } catch (error) {
      log.error({ err: error, workspaceId }, "workspace agent could not be registered");
      return socket.close(TRY_AGAIN_CLOSE_CODE, "Try again later");
    }
    if (!isClaimed) return socket.close(REPLACED_CLOSE_CODE, "Another agent works in this workspace");
    const registered: InboundConnection = { ...open, location: { registrationId, instanceId, replicaUrl } };
    const previous = this.#registered.get(workspaceId);
    if (previous !== undefined) this.drop(previous, "Another agent has connected for this workspace");
    this.#registered.set(workspaceId, registered);
    socket.once("close", (code) => this.#track(this.#ended(registered, code)));
    // The socket may have closed meanwhile.
    if (socket.readyState === socket.CLOSED) return this.#ended(registered, 0);
    await locations.announce(workspaceId, registered.location, leaseMs);
    socket.send(REGISTERED_MESSAGE, () => undefined);
    log.info({ workspaceId, workspaceName, ...facts }, "workspace agent registered");
  }

  /** Releases the registration after a normal closure; else the agent is expected back until its lease expires. */
  async #ended(ended: InboundConnection, code: number): Promise<void> {
    const { locations, registrations, log } = this.options;
    const { workspaceId, workspaceName } = ended.agent;
    this.#forget(workspaceId, ended.socket);
    log.info({ workspaceId, workspaceName, code }, "workspace agent disconnected");
    await locations.withdraw(workspaceId, ended.location);
    if (code !== NORMAL_CLOSE_CODE) return;
    await registrations.release(ended.location.registrationId).catch((error: unknown) => {
      log.warn({ err: error, workspaceId }, "agent registration could not be released; it will expire");
    });
  }

  async #renew(): Promise<void> {
    if (this.#isRenewing || this.#registered.size === 0) return;
    this.#isRenewing = true;
    const { registrations, locations, log } = this.options;
    const connections = [...this.#registered.values()];
    try {
      const ids = connections.map(({ location }) => location.registrationId);
      const renewed = await registrations.renew(ids, REGISTRATION_LEASE_MS);
      for (const connection of connections) {
        const { workspaceId } = connection.agent;
        if (this.#registered.get(workspaceId) !== connection) continue;
        if (!renewed.has(connection.location.registrationId))
          this.drop(connection, "Another agent has registered");
        else this.#track(locations.announce(workspaceId, connection.location, REGISTRATION_LEASE_MS));
      }
    } catch (error) {
      log.warn({ err: error }, "agent registrations could not be renewed; retrying");
    } finally {
      this.#isRenewing = false;
    }
  }

  #forget(workspaceId: string, socket: WebSocket): void {
    if (this.#registered.get(workspaceId)?.socket === socket) this.#registered.delete(workspaceId);
  }

  #track(work: Promise<void>): void {
    this.#pending.add(work);
    void work.finally(() => this.#pending.delete(work));
  }
}

/** The agent's own answer through its connection. Rejects when there is none, or it names another instance. */
async function readFacts(connection: AgentConnection, instanceId: string): Promise<RegisteredAgent> {
  const health = await connection.health({ signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) });
  if (health.instanceId !== instanceId) {
    throw new Error(`The agent connected as ${instanceId} but answers as ${health.instanceId}.`);
  }
  const { programVersion, workingDirectory, capabilities } = health;
  return { instanceId, version: programVersion, workingDirectory, capabilities };
}
