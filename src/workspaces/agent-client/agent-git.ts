/** Client of the agent's git watch: a WebSocket per chat. */
import { WebSocket } from "ws";
import {
  GIT_HEARTBEAT_MS,
  gitWatchMessageSchema,
  MAX_GIT_MESSAGE_BYTES,
  type GitWatchMessage,
  type GitWatchRequest,
} from "../../agent/protocol/git.js";
import { AGENT_PATHS } from "../../agent/protocol/paths.js";
import { systemClock } from "../../lib/clock.js";
import { startHeartbeat } from "../../lib/streams/heartbeat.js";
import { AgentUnreachable, headersOf, type AgentAddress } from "./agent-request.js";

/** A live agent accepts an upgrade at once. */
const HANDSHAKE_TIMEOUT_MS = 10_000;

export type GitWatchListener = {
  /** When it throws, the watch ends with that error. */
  onMessage(message: GitWatchMessage): void;
  /** Called once, when the watch ended without being closed. */
  onLost(error: AgentUnreachable): void;
};

export type AgentGitWatch = {
  /** Requests a scan that sends all states again; its `scanned` message answers `id`, which must increase. */
  refresh(id: number): void;
  /** No message is delivered any more. */
  close(): void;
};

/** Resolves when the agent has accepted the watch; rejects with `AgentUnreachable`. The address must name a chat. */
export function watchGit(address: AgentAddress, listener: GitWatchListener): Promise<AgentGitWatch> {
  const url = new URL(AGENT_PATHS.gitWatch, address.url.replace(/^http/, "ws"));
  const socket = new WebSocket(url, {
    headers: headersOf(address, false),
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    maxPayload: MAX_GIT_MESSAGE_BYTES,
    perMessageDeflate: { serverNoContextTakeover: true, clientNoContextTakeover: true },
  });
  let failure: unknown;
  let isClosed = false;
  socket.on("error", (error) => (failure ??= error));
  socket.on("message", (bytes) => {
    if (isClosed) return;
    try {
      listener.onMessage(gitWatchMessageSchema.parse(JSON.parse((bytes as Buffer).toString("utf8"))));
    } catch (error) {
      failure ??= error;
      socket.terminate();
    }
  });
  return new Promise((resolve, reject) => {
    let hasOpened = false;
    let stopHeartbeat = () => {};
    socket.once("open", () => {
      hasOpened = true;
      stopHeartbeat = startHeartbeat(socket, GIT_HEARTBEAT_MS, address.clock ?? systemClock);
      resolve({
        refresh: (id) => send(socket, { type: "refresh", id }),
        close: () => {
          isClosed = true;
          socket.close();
          // The heartbeat terminates the socket when the agent does not answer the close frame.
        },
      });
    });
    socket.once("close", (code) => {
      stopHeartbeat();
      const cause = failure ?? new Error(`The WebSocket was closed with ${code}.`);
      const error = new AgentUnreachable("The workspace agent's git watch ended.", { cause });
      if (!hasOpened) reject(error);
      else if (!isClosed) listener.onLost(error);
    });
  });
}

/** Dropped when the socket is closing, since the listener gets `onLost`. */
function send(socket: WebSocket, request: GitWatchRequest): void {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(request));
}
