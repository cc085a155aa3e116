/**
 * Supervised outgoing connection: connects to one of the servers, and reconnects whenever the connection ends.
 * States: connecting → registered → (it ended) waiting → connecting …, and from any of them closed, by `close` alone.
 */
import type { Duplex } from "node:stream";
import { sleep, type Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import { connectToServer, type ServerConnection, type ConnectionEnd } from "./server-connection.js";
import { reconnectDelay } from "./reconnect-delay.js";

export type DialOutOptions = {
  /** WebSocket addresses, at least one. */
  servers: readonly string[];
  token: string;
  instanceId: string;
  /** Serves a stream on which the server speaks HTTP. */
  accept: (stream: Duplex) => void;
  /** Called with the server that has registered the agent, and with null when that connection ends. */
  onChange: (registeredAt: string | null) => void;
  /** Called when a connection ends before the server has registered the agent. */
  onFailure: () => void;
  clock: Clock;
  log: Log;
};

export class DialOut {
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #connection: ServerConnection | null = null;
  /** Once registered, this agent must not replace another one any more: two would replace each other for ever. */
  #wasRegistered = false;

  constructor(private readonly options: DialOutOptions) {
    this.#running = this.#run();
  }

  /** Closes the connection with a closing handshake, so that the server notices at once. Resolves when it has ended. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#connection?.close();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { servers, clock } = this.options;
    let failures = 0;
    let reason = "";
    for (let attempt = 0; !this.#closing.signal.aborted; attempt += 1) {
      const server = servers[attempt % servers.length] ?? "";
      const end = await this.#connectOnce(server);
      if (this.#closing.signal.aborted) return;
      failures = end.wasRegistered ? 0 : failures + 1;
      // Each server is tried once before the delay grows.
      const delayMs = reconnectDelay(end, Math.floor(failures / servers.length), Math.random());
      this.#logEnd(end, { server, delayMs, isNewReason: reason !== end.reason });
      reason = end.wasRegistered ? "" : end.reason;
      await sleep(clock, delayMs, this.#closing.signal);
    }
  }

  async #connectOnce(server: string): Promise<ConnectionEnd> {
    const { token, instanceId, accept, onChange, onFailure, clock, log } = this.options;
    const onRegistered = () => {
      this.#wasRegistered = true;
      log.info({ server }, "registered with server");
      onChange(server);
    };
    const facts = { server, token, instanceId, isFirst: !this.#wasRegistered };
    this.#connection = connectToServer(facts, { accept, onRegistered, clock });
    const end = await this.#connection.ended;
    this.#connection = null;
    if (end.wasRegistered) onChange(null);
    else onFailure();
    return end;
  }

  /** A repeated failure is a warning the first time only. */
  #logEnd(
    end: ConnectionEnd,
    { isNewReason, ...facts }: { server: string; delayMs: number; isNewReason: boolean },
  ): void {
    const { log } = this.options;
    const fields = { ...facts, reason: end.reason };
    if (isNewReason) log.warn(fields, "not connected to server; retrying");
    else log.debug(fields, "still not connected to server");
  }
}
