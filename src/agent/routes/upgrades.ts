/** WebSocket upgrades: authorization, handlers by path, and refusals. */
import { STATUS_CODES, type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { FastifyInstance } from "fastify";
import { refused, type Refusal } from "../outcome.js";
import type { AgentErrorBody } from "../protocol/requests.js";

/** The handler of one path. */
export type UpgradeHandler = {
  /** Takes over the socket, or returns a refusal. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Refusal | undefined;
  /** Closes its sockets; resolves when they are closed. */
  close(): Promise<void>;
};

export type UpgradeOptions = {
  isAuthorized(authorization: string | undefined): boolean;
  /** By path. */
  handlers: Readonly<Record<string, UpgradeHandler>>;
};

/** Closing the server closes the upgraded sockets. */
export function addUpgrades(server: FastifyInstance, { isAuthorized, handlers }: UpgradeOptions): void {
  server.server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const refusal = handleUpgrade(request, socket, head);
    if (refusal !== undefined) refuseUpgrade(socket, refusal);
  });
  server.addHook("preClose", async () => {
    await Promise.all(Object.values(handlers).map((handler) => handler.close()));
  });

  function handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Refusal | undefined {
    if (!isAuthorized(request.headers.authorization))
      return refused(401, "A valid bearer token is required.");
    const path = new URL(request.url ?? "/", "http://agent").pathname;
    const handler = Object.hasOwn(handlers, path) ? handlers[path] : undefined;
    return handler
      ? handler.upgrade(request, socket, head)
      : refused(404, `There is nothing to upgrade at ${path}.`);
  }
}

/** Writes the refusal as an HTTP response in the format of all other refusals. */
function refuseUpgrade(socket: Duplex, { status, message, field }: Refusal): void {
  const body: AgentErrorBody = { message, field };
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Refused"}`,
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(text)}`,
    "Connection: close",
  ];
  socket.on("error", () => socket.destroy());
  socket.end(`${head.join("\r\n")}\r\n\r\n${text}`, () => socket.destroy());
}
