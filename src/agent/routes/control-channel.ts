/** A server's line over WebSocket: here the agent asks and the server answers. */
import { WebSocket, WebSocketServer, type RawData } from "ws";
import type { Clock } from "../../lib/clock.js";
import { startHeartbeat } from "../../lib/streams/heartbeat.js";
import type { Log } from "../../lib/log.js";
import type { ControlChannel, ControlChannels } from "../askpass/control-channels.js";
import { refused } from "../outcome.js";
import {
  gitCredentialsAnswerSchema,
  gitCredentialsRequestSchema,
  CONTROL_CHANNEL_HEARTBEAT_MS,
  MAX_CONTROL_MESSAGE_BYTES,
  MAX_PENDING_CONTROL_REQUESTS,
  type GitCredentials,
  type GitCredentialsRequest,
} from "../protocol/control-channel.js";
import type { UpgradeHandler } from "./upgrades.js";

/** One for each workspace here of each server that uses the agent. */
const MAX_LINES = 256;

type Waiting = { resolve(answer: GitCredentials): void; reject(reason: unknown): void };

export type ServerConnectionDependencies = { controlChannels: ControlChannels; clock: Clock; log: Log };

export function controlChannelHandler({
  controlChannels,
  clock,
  log,
}: ServerConnectionDependencies): UpgradeHandler {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_CONTROL_MESSAGE_BYTES,
    perMessageDeflate: false,
  });
  return {
    take(request, socket, head) {
      if (sockets.clients.size >= MAX_LINES) return refused(503, `${MAX_LINES} lines are open already.`);
      sockets.handleUpgrade(request, socket, head, (upgraded) => {
        const line = new SocketChannel(upgraded);
        const stopHeartbeat = startHeartbeat(upgraded, CONTROL_CHANNEL_HEARTBEAT_MS, clock);
        // A message that is too long, or no WebSocket at all: the close event follows.
        upgraded.on("error", (error) => log.debug({ err: error }, "A server's line failed"));
        upgraded.once("close", () => {
          stopHeartbeat();
          controlChannels.remove(line);
        });
        controlChannels.add(line);
        log.debug({ lines: controlChannels.count }, "A server has opened its line");
      });
      return undefined;
    },
    close() {
      for (const socket of sockets.clients) socket.terminate();
      return Promise.resolve();
    },
  };
}

/** A server that says what is not in the protocol is cut: its answers could not be trusted. */
const MEANINGLESS_CLOSE_CODE = 1008;

class SocketChannel implements ControlChannel {
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;

  constructor(private readonly socket: WebSocket) {
    socket.on("message", (bytes) => this.#hear(bytes));
    socket.once("close", () => this.#lose());
  }

  ask(request: GitCredentialsRequest, signal: AbortSignal): Promise<GitCredentials> {
    signal.throwIfAborted();
    const id = (this.#lastId += 1);
    const text = JSON.stringify(
      gitCredentialsRequestSchema.parse({ ...request, type: "git-credentials", id }),
    );
    return new Promise<GitCredentials>((resolve, reject) => {
      if (this.socket.readyState !== WebSocket.OPEN || this.#waiting.size >= MAX_PENDING_CONTROL_REQUESTS) {
        return reject(new Error("The line takes no question now."));
      }
      const settle = () => {
        this.#waiting.delete(id);
        signal.removeEventListener("abort", late);
      };
      const late = () => (settle(), reject(signal.reason as Error));
      signal.addEventListener("abort", late, { once: true });
      this.#waiting.set(id, {
        resolve: (answer) => (settle(), resolve(answer)),
        reject: (reason) => (settle(), reject(reason as Error)),
      });
      this.socket.send(text);
    });
  }

  /** An answer that nobody waits for any more came too late. */
  #hear(bytes: RawData): void {
    const heard = gitCredentialsAnswerSchema.safeParse(bytes instanceof Buffer ? fromJson(bytes) : undefined);
    if (!heard.success) return this.socket.close(MEANINGLESS_CLOSE_CODE, "That is no answer");
    this.#waiting.get(heard.data.id)?.resolve(heard.data.answer);
  }

  #lose(): void {
    for (const waiting of [...this.#waiting.values()]) waiting.reject(new Error("The line broke."));
  }
}

/** Undefined for anything that is not JSON, which has no meaning here. */
function fromJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}
