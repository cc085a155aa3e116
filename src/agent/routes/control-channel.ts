/** Route of control channels: WebSockets on which the agent asks and the server answers. */
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

/** One for each workspace of each server that uses the agent. */
const MAX_CHANNELS = 256;

type Waiting = { resolve(answer: GitCredentials): void; reject(reason: unknown): void };

export type ControlChannelDependencies = { controlChannels: ControlChannels; clock: Clock; log: Log };

export function controlChannelHandler({
  controlChannels,
  clock,
  log,
}: ControlChannelDependencies): UpgradeHandler {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_CONTROL_MESSAGE_BYTES,
    perMessageDeflate: false,
  });
  return {
    upgrade(request, socket, head) {
      if (sockets.clients.size >= MAX_CHANNELS)
        return refused(503, `${MAX_CHANNELS} control channels are open already.`);
      sockets.handleUpgrade(request, socket, head, (upgraded) => {
        const channel = new SocketChannel(upgraded);
        const stopHeartbeat = startHeartbeat(upgraded, CONTROL_CHANNEL_HEARTBEAT_MS, clock);
        // A message that is too long, or an invalid frame: the close event follows.
        upgraded.on("error", (error) => log.debug({ err: error }, "control channel failed"));
        upgraded.once("close", () => {
          stopHeartbeat();
          controlChannels.remove(channel);
        });
        controlChannels.add(channel);
        log.debug({ channels: controlChannels.count }, "control channel opened");
      });
      return undefined;
    },
    close() {
      for (const socket of sockets.clients) socket.terminate();
      return Promise.resolve();
    },
  };
}

/** Closes the channel of a server that violates the protocol. */
const INVALID_MESSAGE_CLOSE_CODE = 1008;

class SocketChannel implements ControlChannel {
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;

  constructor(private readonly socket: WebSocket) {
    socket.on("message", (bytes) => this.#handleMessage(bytes));
    socket.once("close", () => this.#rejectAll());
  }

  ask(request: GitCredentialsRequest, signal: AbortSignal): Promise<GitCredentials> {
    signal.throwIfAborted();
    const id = (this.#lastId += 1);
    const text = JSON.stringify(
      gitCredentialsRequestSchema.parse({ ...request, type: "git-credentials", id }),
    );
    return new Promise<GitCredentials>((resolve, reject) => {
      if (this.socket.readyState !== WebSocket.OPEN || this.#waiting.size >= MAX_PENDING_CONTROL_REQUESTS) {
        return reject(new Error("The control channel is closed or has too many pending requests."));
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

  /** Ignores late answers, whose request is no longer pending. */
  #handleMessage(bytes: RawData): void {
    const message = gitCredentialsAnswerSchema.safeParse(
      bytes instanceof Buffer ? fromJson(bytes) : undefined,
    );
    if (!message.success) return this.socket.close(INVALID_MESSAGE_CLOSE_CODE, "Invalid message");
    this.#waiting.get(message.data.id)?.resolve(message.data.answer);
  }

  #rejectAll(): void {
    for (const waiting of [...this.#waiting.values()])
      waiting.reject(new Error("The control channel closed."));
  }
}

/** Undefined for anything that is not JSON. */
function fromJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}
