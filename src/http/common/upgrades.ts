/** Routes HTTP upgrade requests to handlers, by path. */
import type { FastifyInstance } from "fastify";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

export type UpgradeHandler = {
  paths: readonly string[];
  /** Owns the connection from here on. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Rejects new connections and closes the open ones; resolves when all are closed. */
  close(): Promise<void>;
};

/** Requests for other paths go to `refuse`. */
export function routeUpgrades(
  app: FastifyInstance,
  handlers: readonly UpgradeHandler[],
  refuse: (socket: Duplex) => void,
): void {
  const byPath = new Map(
    handlers.flatMap((handler) => handler.paths.map((path) => [path, handler] as const)),
  );
  app.server.on("upgrade", (request, socket, head) => {
    const handler = byPath.get(request.url?.split("?", 1)[0] ?? "");
    if (handler) handler.accept(request, socket, head);
    else refuse(socket);
  });
}
