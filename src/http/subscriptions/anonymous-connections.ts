/**
 * Connections on which nobody has shown a good token yet. So many may come from one address, and so many from all; one
 * more cuts the oldest of them, so that strangers displace each other and never those who are known: whoever has shown
 * who they are is not counted any more, and whoever shares an address with strangers needs a place among them for a
 * moment only.
 */
import type { Duplex } from "node:stream";
import type { FastifyInstance } from "fastify";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import { openFileLimit } from "../../lib/open-files.js";
import { type AddressOf, isBelieved } from "../common/client-address.js";
import type { HttpLimits } from "../graphql/limits.js";

export type StrangersOptions = {
  limits: Pick<HttpLimits, "maxStrangers" | "maxStrangersPerAddress">;
  addressOf: AddressOf;
  clock: Pick<Clock, "now">;
  log: Log;
};

/** How often the log tells of connections that were cut. */
export const REPORT_INTERVAL_MS = 60_000;
/** Descriptors that are left for the database, files, vendors and workspaces when connections have taken the others. */
const RESERVED_DESCRIPTORS = 512;

export class Strangers {
  /** The oldest first. */
  readonly #places = new Map<Duplex, { address: string; onClose: () => void }>();
  /** The oldest first. */
  readonly #byAddress = new Map<string, Set<Duplex>>();
  readonly #report: (address: string) => void;
  readonly #most: number;

  constructor(private readonly options: StrangersOptions) {
    // Where few connections can be open most of them are for those who are known.
    this.#most = Math.min(options.limits.maxStrangers, Math.ceil(connectionLimit() / 4));
    this.#report = counted(options, (cut, address) => {
      options.log.warn(
        { cut, lastAddress: address },
        "Connections were cut, as too many were open on which nobody had shown a good token",
      );
    });
  }

  get count(): number {
    return this.#places.size;
  }

  /** Somebody has come; cuts the oldest stranger when there are too many. The same connection may be added again. */
  add(connection: Duplex, address: string): void {
    this.forget(connection);
    const { maxStrangersPerAddress } = this.options.limits;
    const neighbours = this.#byAddress.get(address) ?? new Set();
    if (neighbours.size >= maxStrangersPerAddress) this.#cut(neighbours.values().next().value, address);
    if (this.#places.size >= this.#most) this.#cut(this.#places.keys().next().value, address);
    neighbours.add(connection);
    this.#byAddress.set(address, neighbours);
    const onClose = () => this.forget(connection);
    this.#places.set(connection, { address, onClose });
    connection.once("close", onClose);
  }

  /** The connection is no stranger's: a good token or link was shown on it, or it is somebody else's to watch over. */
  forget(connection: Duplex): void {
    const place = this.#places.get(connection);
    if (!place) return;
    this.#places.delete(connection);
    connection.off("close", place.onClose);
    const neighbours = this.#byAddress.get(place.address);
    neighbours?.delete(connection);
    if (neighbours?.size === 0) this.#byAddress.delete(place.address);
  }

  #cut(connection: Duplex | undefined, address: string): void {
    if (!connection) return;
    this.forget(connection);
    connection.destroy();
    this.#report(address);
  }
}

function connectionLimit(): number {
  return Math.max(RESERVED_DESCRIPTORS, openFileLimit() - RESERVED_DESCRIPTORS);
}

/** Counts everybody who connects to the server, and keeps it listening when there are more than the process can have. */
export function watchStrangers(app: FastifyInstance, strangers: Strangers, options: StrangersOptions): void {
  const { addressOf, log } = options;
  app.server.maxConnections = connectionLimit();
  app.server.on("connection", (socket) => {
    // Of a proxy's connections nothing is known but that others come through them; it bounds those itself.
    if (!isBelieved(addressOf, socket)) strangers.add(socket, addressOf({ headers: {}, socket }));
  });
  const reportDropped = counted(options, (dropped) =>
    log.error({ dropped }, "Connections were not taken, as the process has as many open as it can have"),
  );
  app.server.on("drop", () => reportDropped(""));
  const reportFailure = counted(options, (failures, cause) =>
    log.error({ failures, cause }, "Connections could not be taken"),
  );
  // Without a listener it would end the process.
  app.server.on("error", (failure) => reportFailure(failure.message));
}

/** Calls `report` at once and then once in REPORT_INTERVAL_MS, with how many there were since the last time. */
function counted(
  { clock }: Pick<StrangersOptions, "clock">,
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
