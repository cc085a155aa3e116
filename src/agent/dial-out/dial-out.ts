/**
 * Keeps a call from this agent to a server, for ever: as long as one holds, the server reaches the agent through it.
 * States: calling → registered → (it ended) waiting → calling …, and from any of them closed, by `close` alone.
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
  /** Takes a stream on which the server speaks HTTP. */
  accept: (stream: Duplex) => void;
  /** A server holds a call now, or does not any more. */
  onChange: (registeredAt: string | null) => void;
  /** A call ended or never came to be. */
  onFailure: () => void;
  clock: Clock;
  log: Log;
};

export class DialOut {
  readonly #closing = new AbortController();
  readonly #calling: Promise<void>;
  #call: ServerConnection | null = null;
  /** Once a server has taken this agent, it must not push another one out any more: two would do so for ever. */
  #wasRegistered = false;

  constructor(private readonly options: DialOutOptions) {
    this.#calling = this.#callForEver();
  }

  /** Says goodbye, so that the server knows at once. Resolves when the last call is over. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#call?.close();
    await this.#calling;
  }

  async #callForEver(): Promise<void> {
    const { servers, clock } = this.options;
    let failures = 0;
    let reason = "";
    for (let turn = 0; !this.#closing.signal.aborted; turn += 1) {
      const server = servers[turn % servers.length] ?? "";
      const end = await this.#callOnce(server);
      if (this.#closing.signal.aborted) return;
      failures = end.wasRegistered ? 0 : failures + 1;
      // Each server is tried before the wait grows.
      const waitMs = reconnectDelay(end, Math.floor(failures / servers.length), Math.random());
      this.#report(end, { server, waitMs, isNews: reason !== end.reason });
      reason = end.wasRegistered ? "" : end.reason;
      await sleep(clock, waitMs, this.#closing.signal);
    }
  }

  async #callOnce(server: string): Promise<ConnectionEnd> {
    const { token, instanceId, accept, onChange, onFailure, clock, log } = this.options;
    const onRegistered = () => {
      this.#wasRegistered = true;
      log.info({ server }, "A server holds this agent's call");
      onChange(server);
    };
    const facts = { server, token, instanceId, isFirst: !this.#wasRegistered };
    this.#call = connectToServer(facts, { accept, onRegistered, clock });
    const end = await this.#call.ended;
    this.#call = null;
    if (end.wasRegistered) onChange(null);
    else onFailure();
    return end;
  }

  /** The same failure over and over is said once at a level that everybody sees. */
  #report(
    end: ConnectionEnd,
    { isNews, ...facts }: { server: string; waitMs: number; isNews: boolean },
  ): void {
    const { log } = this.options;
    const line = { ...facts, reason: end.reason };
    if (isNews) log.warn(line, "The server does not hold this agent's call; it will be called again");
    else log.debug(line, "The server does not hold this agent's call yet");
  }
}
