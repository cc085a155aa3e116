/** Finds out that the other end of a WebSocket is gone, which a broken network does not tell. */
import type { Clock } from "../clock.js";

/** What the `ws` package's sockets are. */
export type PingableSocket = {
  readonly readyState: number;
  readonly OPEN: number;
  ping(): void;
  terminate(): void;
  on(event: "pong", listener: () => void): unknown;
};

/** Asks each `intervalMs`, and cuts the socket when a question was not answered by the next. Returns how to stop. */
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
