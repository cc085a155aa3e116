/** Which addresses are public, as opposed to this machine and private networks. Pure. */
import ipaddr from "ipaddr.js";

/** All that IANA has assigned to public networks so far; everything else is local or unassigned. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");
/** IPv4 addresses as networks without IPv4 reach them (RFC 6052): embedded in the last 32 bits. */
const NAT64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");

/**
 * Whether it is a public unicast address. Loopback, private, link-local, shared (RFC 6598), documentation and benchmark
 * addresses are not, nor is any form that embeds one of them, nor what is no address.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.range() === "unicast";
  if (parsed.isIPv4MappedAddress()) return isPublicAddress(parsed.toIPv4Address().toString());
  if (parsed.match(NAT64)) {
    const embedded = new ipaddr.IPv4(parsed.toByteArray().slice(12));
    return isPublicAddress(embedded.toString());
  }
  return parsed.match(GLOBAL_UNICAST) && parsed.range() === "unicast";
}

/** The address in a URL's host, without the brackets of IPv6; undefined when the host is a name. */
export function addressOf(host: string): string | undefined {
  const bare = host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
  return ipaddr.isValid(bare) ? bare : undefined;
}

/** Names that always mean this machine, whatever DNS answers (RFC 6761). */
export function isLocalName(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, "");
  return name === "localhost" || name.endsWith(".localhost");
}
