/** Control channel to an agent: a WebSocket, opened by this server, on which the agent sends it requests. */
import { WebSocket } from "ws";
import { AGENT_PATHS } from "../agent/protocol/paths.js";
import {
  gitCredentialsRequestSchema,
  CONTROL_CHANNEL_HEARTBEAT_MS,
  MAX_CONTROL_MESSAGE_BYTES,
  MAX_PENDING_CONTROL_REQUESTS,
  type GitCredentials,
  type GitCredentialsRequest,
} from "../agent/protocol/control-channel.js";
import { systemClock } from "../lib/clock.js";
import { startHeartbeat } from "../lib/streams/heartbeat.js";
import { AgentUnreachable, headersOf, type AgentAddress } from "./agent-client/agent-request.js";

/** A live agent accepts an upgrade at once. */
const HANDSHAKE_TIMEOUT_MS = 10_000;

export type ControlChannelListener = {
  /** When it rejects, the agent gets a refusal. */
  answer(request: GitCredentialsRequest): Promise<GitCredentials>;
  /** Gets what `answer` rejected with. Must not throw. */
  onError(error: unknown): void;
};

export type ControlChannel = {
  /** Resolves when the channel is closed, by either end, and no request is being answered. Never rejects. */
  ended: Promise<void>;
  close(): void;
};

/** Resolves when the channel is open; rejects with `AgentUnreachable`. */
export function openControlChannel(
  address: AgentAddress,
  listener: ControlChannelListener,
): Promise<ControlChannel> {
  const url = new URL(AGENT_PATHS.controlChannel, address.url.replace(/^http/, "ws"));
  const socket = new WebSocket(url, {
    headers: headersOf(address, false),
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    maxPayload: MAX_CONTROL_MESSAGE_BYTES,
    perMessageDeflate: false,
  });
  let failure: unknown;
  socket.on("error", (error) => (failure ??= error));
  const answering = new Set<Promise<void>>();
  socket.on("message", (bytes) => {
    const work = respond(socket, bytes as Buffer, {
      listener,
      isFull: answering.size >= MAX_PENDING_CONTROL_REQUESTS,
    });
    answering.add(work);
    void work.finally(() => answering.delete(work));
  });
  return new Promise((resolve, reject) => {
    let stopHeartbeat = () => {};
    const closed = new Promise<void>((settle) => socket.once("close", () => settle()));
    const ended = closed.then(async () => {
      stopHeartbeat();
      await Promise.all(answering);
    });
    socket.once("open", () => {
      stopHeartbeat = startHeartbeat(socket, CONTROL_CHANNEL_HEARTBEAT_MS, address.clock ?? systemClock);
      resolve({ ended, close: () => socket.terminate() });
    });
    socket.once("close", (code) => {
      const cause = failure ?? new Error(`The WebSocket was closed with ${code}.`);
      reject(new AgentUnreachable("The workspace agent did not open a control channel.", { cause }));
    });
  });
}

type Answering = { listener: ControlChannelListener; isFull: boolean };

/** Never rejects. Unknown messages are ignored: a newer agent may send requests that this server does not know. */
async function respond(socket: WebSocket, bytes: Buffer, { listener, isFull }: Answering): Promise<void> {
  const request = gitCredentialsRequestSchema.safeParse(fromJson(bytes));
  if (!request.success) return;
  const { id, chatId, site, branch, remoteOrigin } = request.data;
  let answer: GitCredentials;
  try {
    answer = isFull
      ? { outcome: "refused", reason: "The Parley server gets too many requests at once." }
      : await listener.answer({ chatId, site, branch, remoteOrigin });
  } catch (error) {
    listener.onError(error);
    answer = { outcome: "refused", reason: "The Parley server could not look for credentials." };
  }
  // When the socket is closing, the agent has given up the request.
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ id, answer }));
}

function fromJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}
