/**
 * Bounds on connections that are not authenticated yet, per address and in total. One more than that terminates the
 * oldest, so that anonymous connections only displace each other: an authenticated one is no longer throttled, and a user
 * who shares an address with many anonymous clients is one of them only for a moment.
 */
import type { Duplex } from "node:stream";
import type { FastifyInstance } from "fastify";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import { openFileLimit } from "../../lib/open-files.js";
import { type AddressOf, isTrustedProxy } from "../common/client-address.js";
import type { HttpLimits } from "../graphql/limits.js";

export type AnonymousConnectionsOptions = {
  limits: Pick<HttpLimits, "maxAnonymousConnections" | "maxAnonymousPerAddress">;
  addressOf: AddressOf;
  clock: Pick<Clock, "now">;
  log: Log;
};

/** Terminated connections are logged at most this often. */
export const REPORT_INTERVAL_MS = 60_000;
/** File descriptors reserved for the database, files, vendors and workspaces. */
const RESERVED_DESCRIPTORS = 512;

export class AnonymousConnections {
  /** Oldest first. */
  readonly #connections = new Map<Duplex, { address: string; onClose: () => void }>();
  /** Oldest first. */
  readonly #byAddress = new Map<string, Set<Duplex>>();
  readonly #report: (address: string) => void;
  readonly #max: number;

  constructor(private readonly options: AnonymousConnectionsOptions) {
    // Where few connections can be open, most are reserved for authenticated users.
    this.#max = Math.min(options.limits.maxAnonymousConnections, Math.ceil(connectionLimit() / 4));
    this.#report = throttled(options, (terminated, address) => {
      options.log.warn(
        { terminated, lastAddress: address },
        "connections terminated: too many unauthenticated connections",
      );
    });
  }

  get count(): number {
    return this.#connections.size;
  }

  /** Adds a connection; terminates the oldest when there are too many. The same connection may be added again. */
  add(connection: Duplex, address: string): void {
    this.remove(connection);
    const { maxAnonymousPerAddress } = this.options.limits;
    const ofAddress = this.#byAddress.get(address) ?? new Set();
    if (ofAddress.size >= maxAnonymousPerAddress) this.#terminate(ofAddress.values().next().value, address);
    if (this.#connections.size >= this.#max) this.#terminate(this.#connections.keys().next().value, address);
    ofAddress.add(connection);
    this.#byAddress.set(address, ofAddress);
    const onClose = () => this.remove(connection);
    this.#connections.set(connection, { address, onClose });
    connection.once("close", onClose);
  }

  /** Stops counting a connection: it presented a valid token or link, or another component bounds it. */
  remove(connection: Duplex): void {
    const entry = this.#connections.get(connection);
    if (!entry) return;
    this.#connections.delete(connection);
    connection.off("close", entry.onClose);
    const ofAddress = this.#byAddress.get(entry.address);
    ofAddress?.delete(connection);
    if (ofAddress?.size === 0) this.#byAddress.delete(entry.address);
  }

  #terminate(connection: Duplex | undefined, address: string): void {
    if (!connection) return;
    this.remove(connection);
    connection.destroy();
    this.#report(address);
  }
}

function connectionLimit(): number {
  return Math.max(RESERVED_DESCRIPTORS, openFileLimit() - RESERVED_DESCRIPTORS);
}

/** Counts all connections to the server, and keeps it listening when the process has no descriptors left. */
export function limitAnonymousConnections(
  app: FastifyInstance,
  connections: AnonymousConnections,
  options: AnonymousConnectionsOptions,
): void {
  const { addressOf, log } = options;
  app.server.maxConnections = connectionLimit();
  app.server.on("connection", (socket) => {
    // A proxy's connections carry requests of many clients; it bounds those itself.
    if (!isTrustedProxy(addressOf, socket)) connections.add(socket, addressOf({ headers: {}, socket }));
  });
  const reportDropped = throttled(options, (dropped) =>
    log.error({ dropped }, "connections rejected: too many are open in this process"),
  );
  app.server.on("drop", () => reportDropped(""));
  const reportFailure = throttled(options, (failures, cause) =>
    log.error({ failures, cause }, "accepting connections failed"),
  );
  // An error without a listener would end the process.
  app.server.on("error", (failure) => reportFailure(failure.message));
}

/** Calls `report` immediately, and then at most once per REPORT_INTERVAL_MS with the count since the last call. */
function throttled(
  { clock }: Pick<AnonymousConnectionsOptions, "clock">,
  report: (count: number, last: string) => void,
): (last: string) => void {
  let count = 0;
  let reportedAt = -Infinity;
  return (last) => {
    count += 1;
    if (clock.now() - reportedAt < REPORT_INTERVAL_MS) return;
    reportedAt = clock.now();
    report(count, last);
    count = 0;
  };
}
