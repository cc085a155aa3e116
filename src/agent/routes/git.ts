/** Route of git watches: each WebSocket has a watch of its own. */
import type { IncomingMessage } from "node:http";
import { WebSocket, WebSocketServer, type RawData } from "ws";
import type { Clock } from "../../lib/clock.js";
import { startHeartbeat } from "../../lib/streams/heartbeat.js";
import type { Log } from "../../lib/log.js";
import type { Agent } from "../agent.js";
import type { RunningWatch } from "../git/git-watches.js";
import { refused, type Refusal } from "../outcome.js";
import {
  GIT_HEARTBEAT_MS,
  gitWatchRequestSchema,
  MAX_GIT_MESSAGE_BYTES,
  type GitWatchMessage,
} from "../protocol/git.js";
import { RefusedRequest, scopeOf } from "./requests.js";
import type { UpgradeHandler } from "./upgrades.js";

/** One for each chat that is shown, on each of a few servers. */
const MAX_WATCHES = 1_000;
/** Compressing shorter messages is not worthwhile. */
const COMPRESSED_FROM_BYTES = 1_024;
const BROKEN_CLOSE_CODE = 1011;

export type GitRouteDependencies = { agent: Agent; clock: Clock; log: Log };

export function gitWatchHandler(dependencies: GitRouteDependencies): UpgradeHandler {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_GIT_MESSAGE_BYTES,
    perMessageDeflate: {
      serverNoContextTakeover: true,
      clientNoContextTakeover: true,
      threshold: COMPRESSED_FROM_BYTES,
    },
  });
  const watches = new Set<Promise<void>>();
  return {
    upgrade(request, socket, head) {
      const chat = admit(request, sockets.clients.size);
      if (typeof chat !== "string") return chat;
      sockets.handleUpgrade(request, socket, head, (upgraded) => {
        const watch = serve(upgraded, chat, dependencies).finally(() => watches.delete(watch));
        watches.add(watch);
      });
      return undefined;
    },
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      await Promise.all(watches);
    },
  };
}

/** The chat to watch, or a refusal. */
function admit(request: IncomingMessage, open: number): string | Refusal {
  if (open >= MAX_WATCHES) return refused(503, `${MAX_WATCHES} watches are open already.`);
  try {
    return scopeOf(request).chatId ?? refused(400, "A watch needs a chat; name it in the header.");
  } catch (error) {
    if (error instanceof RefusedRequest) return error.refusal;
    throw error;
  }
}

/** Resolves when the socket is closed and its watch has ended. Never rejects. */
async function serve(
  socket: WebSocket,
  chatId: string,
  { agent, clock, log }: GitRouteDependencies,
): Promise<void> {
  const stopHeartbeat = startHeartbeat(socket, GIT_HEARTBEAT_MS, clock);
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  // A message that is too long, or an invalid frame: the close event follows.
  socket.on("error", (error) => log.debug({ err: error, chatId }, "git watch socket failed"));
  const send = (message: GitWatchMessage) => sendMessage(socket, message);
  const watch = agent.git.watch(chatId, send, (error) => {
    log.error({ err: error, chatId }, "git watch failed");
    socket.close(BROKEN_CLOSE_CODE, "The watch failed");
  });
  socket.on("message", (bytes, isBinary) => handleMessage(isBinary ? undefined : bytes, watch, send));
  await closed;
  stopHeartbeat();
  await watch.stop();
}

function handleMessage(
  bytes: RawData | undefined,
  watch: RunningWatch,
  send: (message: GitWatchMessage) => Promise<void>,
): void {
  const request = gitWatchRequestSchema.safeParse(bytes instanceof Buffer ? fromJson(bytes) : undefined);
  if (request.success) return watch.refresh(request.data.id);
  void send({ type: "error", message: "unknown message type" });
}

/** Undefined for anything that is not JSON. */
function fromJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}

/** Resolves when the message was written, or was dropped because the socket is closing. */
function sendMessage(socket: WebSocket, message: GitWatchMessage): Promise<void> {
  if (socket.readyState !== WebSocket.OPEN) return Promise.resolve();
  return new Promise((resolve) => socket.send(JSON.stringify(message), () => resolve()));
}
