/** Name resolution that returns only permitted addresses, so that the connection goes to an address that was checked. */
import { lookup as systemLookup, type LookupAddress, type LookupOptions } from "node:dns";
import type { LookupFunction } from "node:net";
import { OutboundRefused } from "./refused.js";

/** Resolves all addresses of a name. */
export type ResolveAll = (
  hostname: string,
  options: LookupOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export type Resolution = { resolveAll: ResolveAll; isPublic(address: string): boolean };

export const resolveBySystem: ResolveAll = (hostname, options, callback) =>
  systemLookup(hostname, { ...options, all: true }, callback);

/** Fails with OutboundRefused when no address of the name is public. */
export function guardedLookup({ resolveAll, isPublic }: Resolution): LookupFunction {
  return (hostname, options, callback) => {
    resolveAll(hostname, options, (error, addresses) => {
      if (error !== null) return callback(error, []);
      const allowed = addresses.filter(({ address }) => isPublic(address));
      const [first] = allowed;
      if (first === undefined) return callback(OutboundRefused.privateName(hostname), []);
      if (options.all === true) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}
