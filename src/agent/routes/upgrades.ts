/** WebSockets: which paths take them, who may open one, and how anybody else is refused. */
import { STATUS_CODES, type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { FastifyInstance } from "fastify";
import { refused, type Refusal } from "../outcome.js";
import type { AgentErrorBody } from "../protocol/requests.js";

/** One path's. */
export type UpgradeHandler = {
  /** Takes the socket over, unless it refuses. */
  take(request: IncomingMessage, socket: Duplex, head: Buffer): Refusal | undefined;
  /** Ends what it has taken; resolves when that is over. */
  close(): Promise<void>;
};

export type UpgradeOptions = {
  isToken(authorization: string | undefined): boolean;
  /** By their paths. */
  takers: Readonly<Record<string, UpgradeHandler>>;
};

/** What was taken ends with the server. */
export function addUpgrades(server: FastifyInstance, { isToken, takers }: UpgradeOptions): void {
  server.server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const refusal = takeUpgrade(request, socket, head);
    if (refusal !== undefined) refuseUpgrade(socket, refusal);
  });
  server.addHook("preClose", async () => {
    await Promise.all(Object.values(takers).map((taker) => taker.close()));
  });

  function takeUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Refusal | undefined {
    if (!isToken(request.headers.authorization)) return refused(401, "A valid bearer token is required.");
    const path = new URL(request.url ?? "/", "http://agent").pathname;
    const taker = Object.hasOwn(takers, path) ? takers[path] : undefined;
    return taker
      ? taker.take(request, socket, head)
      : refused(404, `There is nothing to upgrade at ${path}.`);
  }
}

/** As any other refusal looks. */
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
