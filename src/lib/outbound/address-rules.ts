/** Which addresses the outside world has, as opposed to this machine and the networks around it. Pure. */
import ipaddr from "ipaddr.js";

/** All that is given to networks of the world so far (IANA); whatever is outside is of this place, or of nobody. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");
/** How a network without IPv4 reaches it (RFC 6052): the last 32 bits are the address that is really meant. */
const NAT64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");

/**
 * Whether it is a public unicast address. Loopback, private and link-local ones, those of providers' inner networks, of
 * documentation and tests, and every form that hides one of them in another address are not, nor is what is no address.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.range() === "unicast";
  if (parsed.isIPv4MappedAddress()) return isPublicAddress(parsed.toIPv4Address().toString());
  if (parsed.match(NAT64)) {
    const meant = new ipaddr.IPv4(parsed.toByteArray().slice(12));
    return isPublicAddress(meant.toString());
  }
  return parsed.match(GLOBAL_UNICAST) && parsed.range() === "unicast";
}

/** The address that a URL's host is, without the brackets of IPv6; undefined when it is a name. */
export function addressOf(host: string): string | undefined {
  const bare = host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
  return ipaddr.isValid(bare) ? bare : undefined;
}

/** Names that mean this machine whatever a name server says (RFC 6761). */
export function isLocalName(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, "");
  return name === "localhost" || name.endsWith(".localhost");
}
