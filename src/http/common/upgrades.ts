/** Who takes over connections that ask to become something else than HTTP, by path. */
import type { FastifyInstance } from "fastify";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

export type UpgradeTaker = {
  paths: readonly string[];
  /** Owns the connection from here on. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Takes no more, and ends what it took; resolves when that is done. */
  close(): Promise<void>;
};

/** What nobody takes is given to `refuse`. */
export function takeUpgrades(
  app: FastifyInstance,
  takers: readonly UpgradeTaker[],
  refuse: (socket: Duplex) => void,
): void {
  const byPath = new Map(takers.flatMap((taker) => taker.paths.map((path) => [path, taker] as const)));
  app.server.on("upgrade", (request, socket, head) => {
    const taker = byPath.get(request.url?.split("?", 1)[0] ?? "");
    if (taker) taker.accept(request, socket, head);
    else refuse(socket);
  });
}
