/**
 * The calls of agents that this replica holds. A call: arrived → looked at → registered → ended. It is registered when
 * the agent has answered through it and the database says that it is the workspace's only one; the database also says
 * when it is not any more.
 */
import { randomUUID } from "node:crypto";
import type { WebSocket } from "ws";
import {
  REGISTERED_MESSAGE,
  REPLACED_CLOSE_CODE,
  tokenWithin,
  UNUSABLE_CLOSE_CODE,
} from "../../agent/protocol/dial-out.js";
import type { AgentPlace, RegisteredAgent } from "../../domain/workspaces/workspace.js";
import { carryStreams, type ByteStreams } from "../../lib/streams/byte-streams.js";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import { connectAgent, type AgentConnection } from "../agent-client/agent-connection.js";
import { openEntrance, type Entrance } from "./tunnel-listener.js";
import type { Caller, Places, Registrations } from "./ports.js";

/** Registrations that nobody renews end after this: a replica that died holds none. */
export const REGISTRATION_LEASE_MS = 30_000;
/** Three tries before a lease ends. */
export const RENEWAL_INTERVAL_MS = 10_000;
/** An agent that called answers at once, or there is something between that swallows what is sent. */
const HEALTH_TIMEOUT_MS = 10_000;
/** RFC 6455: the other end stops, and comes back or not. */
const GOODBYE_CLOSE_CODE = 1000;
/** IANA's registry: try again later. */
const TRY_AGAIN_CLOSE_CODE = 1013;

export type HeldCall = {
  caller: Caller;
  place: AgentPlace;
  socket: WebSocket;
  streams: ByteStreams;
  connection: AgentConnection;
};

export type HeldCallsOptions = {
  registrations: Registrations;
  places: Places;
  /** How other replicas reach this one; null: they cannot. */
  replicaUrl: string | null;
  clock: Clock;
  log: Log;
};

export class HeldCalls {
  readonly #calls = new Map<string, HeldCall>();
  readonly #work = new Set<Promise<void>>();
  readonly #cancelRenewal: () => void;
  #isRenewing = false;

  constructor(private readonly options: HeldCallsOptions) {
    this.#cancelRenewal = options.clock.every(RENEWAL_INTERVAL_MS, () => this.#own(this.#renew()));
  }

  get count(): number {
    return this.#calls.size;
  }

  /** The registered call of a workspace's agent. */
  of(workspaceId: string): HeldCall | undefined {
    return this.#calls.get(workspaceId);
  }

  /** Takes over the open socket of an agent that called. Whatever becomes of it, the socket hears. */
  accept(socket: WebSocket, caller: Caller): void {
    this.#own(this.#accept(socket, caller));
  }

  /** The call does not count any more: its agent is told to stand by. */
  drop({ socket, caller }: HeldCall, reason: string): void {
    const { workspaceId, workspaceName, instanceId } = caller;
    this.options.log.warn(
      { workspaceId, workspaceName, instanceId, reason },
      "A workspace agent's call is ended",
    );
    socket.close(REPLACED_CLOSE_CODE, reason);
    this.#forget(workspaceId, socket);
  }

  /** Stops renewing, and waits for what is under way. The sockets are the door's to close. */
  async close(): Promise<void> {
    this.#cancelRenewal();
    await Promise.all(this.#work);
  }

  async #accept(socket: WebSocket, caller: Caller): Promise<void> {
    const { log, clock } = this.options;
    const { workspaceId, workspaceName, tokenHash, instanceId } = caller;
    const streams = carryStreams(socket, { clock });
    let entrance: Entrance | undefined;
    socket.once("close", () => entrance?.close());
    try {
      entrance = await openEntrance(() => streams.open(), log);
      const token = tokenWithin(tokenHash, instanceId);
      const connection = connectAgent({ url: entrance.url, token, instanceId, clock });
      const agent = await lookAt(connection, instanceId);
      await this.#register({ caller, socket, streams, connection, agent });
    } catch (error) {
      log.warn({ err: error, workspaceId, workspaceName }, "An agent called but cannot be used");
      socket.close(UNUSABLE_CLOSE_CODE, "The agent does not answer through its call");
    } finally {
      if (socket.readyState !== socket.OPEN) entrance?.close();
    }
  }

  async #register(found: Omit<HeldCall, "place"> & { agent: RegisteredAgent }): Promise<void> {
    const { registrations, replicaUrl, log } = this.options;
    const { agent, ...call } = found;
    const { workspaceId, workspaceName, tokenHash, instanceId, isFirst } = call.caller;
    const registrationId = randomUUID();
    const claim = { workspaceId, tokenHash, registrationId, agent, isFirst, leaseMs: REGISTRATION_LEASE_MS };
    let isClaimed: boolean;
    try {
      isClaimed = await registrations.claim(claim);
    } catch (error) {
      log.error({ err: error, workspaceId }, "An agent's call could not be registered");
      return call.socket.close(TRY_AGAIN_CLOSE_CODE, "Try again later");
    }
    if (!isClaimed) {
      return call.socket.close(REPLACED_CLOSE_CODE, "Another agent works in this workspace");
    }
    const held: HeldCall = { ...call, place: { registrationId, instanceId, replicaUrl } };
    const before = this.#calls.get(workspaceId);
    if (before !== undefined) this.drop(before, "Another agent has called for this workspace");
    this.#calls.set(workspaceId, held);
    call.socket.once("close", (code) => this.#own(this.#ended(held, code)));
    // It may have gone while the database was asked.
    if (call.socket.readyState === call.socket.CLOSED) return this.#ended(held, 0);
    await this.options.places.announce(workspaceId, held.place, REGISTRATION_LEASE_MS);
    call.socket.send(REGISTERED_MESSAGE, () => undefined);
    log.info({ workspaceId, workspaceName, ...agent }, "A workspace's agent has called and is registered");
  }

  /** An agent that said goodbye is gone; any other is expected back, until its lease ends. */
  async #ended(held: HeldCall, code: number): Promise<void> {
    const { places, registrations, log } = this.options;
    const { workspaceId, workspaceName } = held.caller;
    this.#forget(workspaceId, held.socket);
    log.info({ workspaceId, workspaceName, code }, "The call of a workspace's agent has ended");
    await places.withdraw(workspaceId, held.place);
    if (code !== GOODBYE_CLOSE_CODE) return;
    await registrations.release(held.place.registrationId).catch((error: unknown) => {
      log.warn(
        { err: error, workspaceId },
        "An agent's registration could not be released; its lease ends it",
      );
    });
  }

  async #renew(): Promise<void> {
    if (this.#isRenewing || this.#calls.size === 0) return;
    this.#isRenewing = true;
    const { registrations, places, log } = this.options;
    const calls = [...this.#calls.values()];
    try {
      const ids = calls.map(({ place }) => place.registrationId);
      const counting = await registrations.renew(ids, REGISTRATION_LEASE_MS);
      for (const call of calls) {
        const { workspaceId } = call.caller;
        if (this.#calls.get(workspaceId) !== call) continue;
        if (!counting.has(call.place.registrationId)) this.drop(call, "Another agent has taken the place");
        else this.#own(places.announce(workspaceId, call.place, REGISTRATION_LEASE_MS));
      }
    } catch (error) {
      log.warn({ err: error }, "The registrations of agents could not be renewed; tried again soon");
    } finally {
      this.#isRenewing = false;
    }
  }

  #forget(workspaceId: string, socket: WebSocket): void {
    if (this.#calls.get(workspaceId)?.socket === socket) this.#calls.delete(workspaceId);
  }

  #own(work: Promise<void>): void {
    this.#work.add(work);
    void work.finally(() => this.#work.delete(work));
  }
}

/** What the agent itself says through its call. Rejects when it does not, or says that it is another one. */
async function lookAt(connection: AgentConnection, instanceId: string): Promise<RegisteredAgent> {
  const health = await connection.health({ signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) });
  if (health.instanceId !== instanceId) {
    throw new Error(`The agent called as ${instanceId} but says that it is ${health.instanceId}.`);
  }
  const { programVersion, workingDirectory, capabilities } = health;
  return { instanceId, version: programVersion, workingDirectory, capabilities };
}
