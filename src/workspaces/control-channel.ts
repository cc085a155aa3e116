/** A line to an agent on which it asks this server: a WebSocket that this end opens. */
import { WebSocket } from "ws";
import { AGENT_PATHS } from "../agent/protocol/paths.js";
import {
  gitCredentialsRequestSchema,
  LINE_HEARTBEAT_MS,
  MAX_LINE_MESSAGE_BYTES,
  MAX_LINE_QUESTIONS,
  type GitCredentials,
  type GitCredentialsRequest,
} from "../agent/protocol/server-line.js";
import { systemClock } from "../lib/clock.js";
import { keepHeartbeat } from "../lib/streams/heartbeat.js";
import { AgentUnreachable, headersOf, type AgentAddress } from "./agent-client/agent-request.js";

/** An agent that is there takes an upgrade at once. */
const HANDSHAKE_TIMEOUT_MS = 10_000;

export type ServerLineListener = {
  /** May reject; the agent is then told that it did not work. */
  answer(request: GitCredentialsRequest): Promise<GitCredentials>;
  /** What `answer` rejected with; must not throw. */
  failed(error: unknown): void;
};

export type OpenServerLine = {
  /** Resolves when the line is over, whoever ended it, and what was being answered is done. Never rejects. */
  ended: Promise<void>;
  close(): void;
};

/** Resolves when the agent has taken the line; rejects with `AgentUnreachable`. */
export function openServerLine(address: AgentAddress, listener: ServerLineListener): Promise<OpenServerLine> {
  const url = new URL(AGENT_PATHS.serverLine, address.url.replace(/^http/, "ws"));
  const socket = new WebSocket(url, {
    headers: headersOf(address, false),
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    maxPayload: MAX_LINE_MESSAGE_BYTES,
    perMessageDeflate: false,
  });
  let failure: unknown;
  socket.on("error", (error) => (failure ??= error));
  const answering = new Set<Promise<void>>();
  socket.on("message", (bytes) => {
    const work = respond(socket, bytes as Buffer, { listener, isFull: answering.size >= MAX_LINE_QUESTIONS });
    answering.add(work);
    void work.finally(() => answering.delete(work));
  });
  return new Promise((resolve, reject) => {
    let stopHeartbeat = () => {};
    const closed = new Promise<void>((end) => socket.once("close", () => end()));
    const ended = closed.then(async () => {
      stopHeartbeat();
      await Promise.all(answering);
    });
    socket.once("open", () => {
      stopHeartbeat = keepHeartbeat(socket, LINE_HEARTBEAT_MS, address.clock ?? systemClock);
      resolve({ ended, close: () => socket.terminate() });
    });
    socket.once("close", (code) => {
      const cause = failure ?? new Error(`The WebSocket was closed with ${code}.`);
      reject(new AgentUnreachable("The workspace agent does not take this server's line.", { cause }));
    });
  });
}

type Answering = { listener: ServerLineListener; isFull: boolean };

/** Never rejects. What is no question is left without an answer: a newer agent may ask more than this server knows. */
async function respond(socket: WebSocket, bytes: Buffer, { listener, isFull }: Answering): Promise<void> {
  const question = gitCredentialsRequestSchema.safeParse(fromJson(bytes));
  if (!question.success) return;
  const { id, chatId, site, branch, remoteOrigin } = question.data;
  let answer: GitCredentials;
  try {
    answer = isFull
      ? { outcome: "refused", reason: "The Parley server is asked too much at once." }
      : await listener.answer({ chatId, site, branch, remoteOrigin });
  } catch (error) {
    listener.failed(error);
    answer = { outcome: "refused", reason: "The Parley server could not look for credentials." };
  }
  // On a socket that is closing it goes nowhere, and nobody waits for it.
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ id, answer }));
}

function fromJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}
