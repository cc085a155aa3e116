/** One outgoing connection from the agent to a server: a WebSocket that carries the server's streams to the agent. */
import type { Duplex } from "node:stream";
import { WebSocket } from "ws";
import { multiplexStreams, MAX_MULTIPLEXED_MESSAGE_BYTES } from "../../lib/streams/byte-streams.js";
import type { Clock } from "../../lib/clock.js";
import {
  AGENT_CALL_HEADER,
  AGENT_INSTANCE_HEADER,
  AGENT_PROTOCOL_HEADER,
  REGISTERED_MESSAGE,
  REPLACED_CLOSE_CODE,
} from "../protocol/dial-out.js";
import { AGENT_PROTOCOL_VERSION } from "../protocol/paths.js";

/** For the WebSocket handshake. */
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** More than the 10 s within which the server checks the agent. */
const REGISTRATION_TIMEOUT_MS = 20_000;
/** For the server's answer to the closing handshake. */
const CLOSE_TIMEOUT_MS = 2_000;
const NORMAL_CLOSE_CODE = 1000;

export type ConnectionFacts = {
  server: string;
  token: string;
  instanceId: string;
  /** The first connection since the agent's start may replace another connected agent. */
  isFirst: boolean;
};

export type ConnectionEnd = {
  /** For the log. */
  reason: string;
  wasRegistered: boolean;
  /** Another agent is registered for the workspace. */
  wasReplaced: boolean;
};

export type ServerConnection = {
  /** Never rejects. */
  ended: Promise<ConnectionEnd>;
  close(): void;
};

type ConnectionOptions = { accept: (stream: Duplex) => void; onRegistered: () => void; clock: Clock };

export function connectToServer(
  facts: ConnectionFacts,
  { accept, onRegistered, clock }: ConnectionOptions,
): ServerConnection {
  const socket = new WebSocket(facts.server, {
    headers: headersOf(facts),
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    maxPayload: MAX_MULTIPLEXED_MESSAGE_BYTES,
    // Messages are mostly small, and compression would cost a window of memory for each agent.
    perMessageDeflate: false,
  });
  let failure: string | null = null;
  let wasRegistered = false;
  const cancelTimeout = clock.after(REGISTRATION_TIMEOUT_MS, () => {
    failure = "the server did not register the agent in time";
    socket.terminate();
  });
  const onText = (text: string) => {
    if (text !== REGISTERED_MESSAGE || wasRegistered) return;
    wasRegistered = true;
    cancelTimeout();
    onRegistered();
  };
  socket.once("open", () => multiplexStreams(socket, { accept, onText, clock }));
  socket.on("error", (error) => (failure ??= error.message));
  socket.once("unexpected-response", (_request, response) => {
    failure = refusalText(response.statusCode ?? 0);
    socket.terminate();
  });
  const ended = new Promise<ConnectionEnd>((resolve) => {
    socket.once("close", (code, words) => {
      cancelTimeout();
      const reason = failure ?? `closed with ${code} ${words.toString()}`.trim();
      resolve({ reason, wasRegistered, wasReplaced: code === REPLACED_CLOSE_CODE });
    });
  });
  return { ended, close: () => closeGracefully(socket, clock) };
}

function headersOf({ token, instanceId, isFirst }: ConnectionFacts): Record<string, string> {
  return {
    authorization: `Bearer ${token}`,
    [AGENT_INSTANCE_HEADER]: instanceId,
    [AGENT_PROTOCOL_HEADER]: String(AGENT_PROTOCOL_VERSION),
    [AGENT_CALL_HEADER]: isFirst ? "first" : "again",
  };
}

function refusalText(status: number): string {
  switch (status) {
    case 401:
      return "the server does not know this token (401); `parley workspace token` makes a new one";
    case 404:
      return "there is no Parley server at this address (404)";
    case 426:
      return "the server is older than this agent or much newer (426)";
    default:
      return `the server answered ${status}`;
  }
}

function closeGracefully(socket: WebSocket, clock: Clock): void {
  if (socket.readyState !== socket.OPEN) return socket.terminate();
  const cancel = clock.after(CLOSE_TIMEOUT_MS, () => socket.terminate());
  socket.once("close", cancel);
  socket.close(NORMAL_CLOSE_CODE, "The agent stops");
}
