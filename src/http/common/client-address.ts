/**
 * Where a request comes from, for all doors alike. `X-Forwarded-For` is a list that every proxy on the way appends to,
 * so it is read from its end, and only as far as those who wrote it are trusted; what a client claims there itself is
 * never reached. Pure.
 */
import type { IncomingHttpHeaders } from "node:http";
import ipaddr from "ipaddr.js";

/** How many proxies stand before this server, or the networks (CIDR notation) that they are in. */
export type TrustedProxies = { hops: number } | { networks: readonly string[] };

/** Nobody's word counts: the address is that of the connection. */
export const NO_PROXIES: TrustedProxies = { hops: 0 };

/** What an address is called that nobody knows, such as that of a connection which has gone. */
const UNKNOWN = "unknown";
/** Entries of the header that are looked at; no way is longer. */
const MAX_ENTRIES = 32;
/** Providers give a subscriber one network of this size, and each address in it costs nothing. */
const IPV6_PREFIX_BITS = 64;

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** What is needed of a request, or of an upgrade. */
export type Visitor = { headers: IncomingHttpHeaders; socket: { remoteAddress?: string | undefined } };

/** The client as limits know it: an IPv4 address, or the /64 of an IPv6 one. */
export type AddressOf = (visitor: Visitor) => string;

export function readAddresses(trusted: TrustedProxies): AddressOf {
  const isTrusted = createTrust(trusted);
  return ({ headers, socket }) => {
    let client = parseAddress(socket.remoteAddress ?? "");
    if (client === null) return UNKNOWN;
    const entries = forwarded(headers["x-forwarded-for"]);
    for (let hop = 0; hop < entries.length && isTrusted(client, hop); hop += 1) {
      const next = parseAddress(entries[hop] ?? "");
      // A proxy that hides its clients answers for them itself.
      if (next === null) break;
      client = next;
    }
    return keyOf(client);
  };
}

/** An address of documentation (RFC 5737), which is nobody's. */
const NOBODYS = "192.0.2.1";

/** Whether what the other end says of its clients is believed: then it is a proxy. */
export function isBelieved(addressOf: AddressOf, socket: Visitor["socket"]): boolean {
  return addressOf({ headers: { "x-forwarded-for": NOBODYS }, socket }) === NOBODYS;
}

/** The entries of the header, the nearest first. */
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

/** Some proxies write ports as well. An IPv4 address in the clothes of an IPv6 one is the former. */
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
