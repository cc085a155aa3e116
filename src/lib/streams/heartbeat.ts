/** Heartbeat of a WebSocket: detects that the other end is gone when the network does not report it. */
import type { Clock } from "../clock.js";

/** The part of the `ws` package's sockets that is needed here. */
export type PingableSocket = {
  readonly readyState: number;
  readonly OPEN: number;
  ping(): void;
  terminate(): void;
  on(event: "pong", listener: () => void): unknown;
};

/** Pings every `intervalMs` and terminates the socket when a ping was not answered by the next. Returns how to stop. */
export function startHeartbeat(socket: PingableSocket, intervalMs: number, clock: Clock): () => void {
  let hasAnswered = true;
  socket.on("pong", () => {
    hasAnswered = true;
  });
  return clock.every(intervalMs, () => {
    if (!hasAnswered) return socket.terminate();
    hasAnswered = false;
    if (socket.readyState === socket.OPEN) socket.ping();
  });
}
