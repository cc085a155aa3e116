/**
 * Client address of a request behind trusted proxies. `X-Forwarded-For` is a list that every proxy appends to, so it is
 * read from its end, and only as far as the proxies that wrote it are trusted; entries that a client forged are never
 * reached. Pure.
 */
import type { IncomingHttpHeaders } from "node:http";
import ipaddr from "ipaddr.js";

/** The number of proxies in front of this server, or the networks (CIDR notation) that they are in. */
export type TrustedProxies = { hops: number } | { networks: readonly string[] };

/** Trusts no proxy: the address is that of the connection. */
export const NO_PROXIES: TrustedProxies = { hops: 0 };

/** Key of unknown addresses, such as that of a closed connection. */
const UNKNOWN = "unknown";
/** Entries of the header that are read; no proxy chain is longer. */
const MAX_ENTRIES = 32;
/** Providers assign a customer one network of this size, and addresses in it are free. */
const IPV6_PREFIX_BITS = 64;

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The parts of a request or upgrade that its address is read from. */
export type AddressSource = { headers: IncomingHttpHeaders; socket: { remoteAddress?: string | undefined } };

/** The client's key for rate limits: an IPv4 address, or the /64 network of an IPv6 address. */
export type AddressOf = (source: AddressSource) => string;

export function readAddresses(trusted: TrustedProxies): AddressOf {
  const isTrusted = createTrust(trusted);
  return ({ headers, socket }) => {
    let client = parseAddress(socket.remoteAddress ?? "");
    if (client === null) return UNKNOWN;
    const entries = forwarded(headers["x-forwarded-for"]);
    for (let hop = 0; hop < entries.length && isTrusted(client, hop); hop += 1) {
      const next = parseAddress(entries[hop] ?? "");
      // A proxy that hides its clients is counted as the client.
      if (next === null) break;
      client = next;
    }
    return keyOf(client);
  };
}

/** A documentation address (RFC 5737), which no client has. */
const EXAMPLE_ADDRESS = "192.0.2.1";

/** Whether the connection comes from a trusted proxy. */
export function isTrustedProxy(addressOf: AddressOf, socket: AddressSource["socket"]): boolean {
  return addressOf({ headers: { "x-forwarded-for": EXAMPLE_ADDRESS }, socket }) === EXAMPLE_ADDRESS;
}

/** The entries of the header, the nearest proxy first. */
function forwarded(header: string | string[] | undefined): string[] {
  const text = Array.isArray(header) ? header.join(",") : (header ?? "");
  if (text === "") return [];
  return text.split(",").slice(-MAX_ENTRIES).reverse();
}

function createTrust(trusted: TrustedProxies): (address: Address, hop: number) => boolean {
  if ("hops" in trusted) return (_address, hop) => hop < trusted.hops;
  const networks = trusted.networks.map((network) => ipaddr.parseCIDR(network));
  return (address) =>
    networks.some(
      ([network, bits]) => network.kind() === address.kind() && address.match([network, bits] as never),
    );
}

/** Strips ports, which some proxies add, and converts IPv4-mapped IPv6 addresses to IPv4. */
function parseAddress(text: string): Address | null {
  const bare = text.trim().replace(/^\[([^\]]*)\](?::\d+)?$|^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1$2");
  if (!ipaddr.IPv4.isValidFourPartDecimal(bare) && !ipaddr.IPv6.isValid(bare)) return null;
  return ipaddr.process(bare);
}

function keyOf(address: Address): string {
  if (address instanceof ipaddr.IPv4) return address.toString();
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${withoutZone(address)}/${IPV6_PREFIX_BITS}`);
  return `${network.toString()}/${IPV6_PREFIX_BITS}`;
}

function withoutZone(address: ipaddr.IPv6): string {
  return address.toNormalizedString().split("%", 1)[0] ?? "";
}
