import { expect, test } from "vitest";
import { readAddresses, type TrustedProxies } from "./client-address.js";

const read = (trusted: TrustedProxies, remoteAddress: string | undefined, forwardedFor?: string | string[]) =>
  readAddresses(trusted)({
    headers: (forwardedFor === undefined ? {} : { "x-forwarded-for": forwardedFor }) as never,
    socket: { remoteAddress },
  });

const inside: TrustedProxies = { networks: ["10.0.0.0/8", "fd00::/8"] };

test.each<[string, TrustedProxies, string | undefined, string | string[] | undefined, string]>([
  ["the connection's own address", { hops: 0 }, "192.0.2.1", undefined, "192.0.2.1"],
  ["an IPv4 address within an IPv6 one", { hops: 0 }, "::ffff:192.0.2.1", undefined, "192.0.2.1"],
  ["the network of an IPv6 address", { hops: 0 }, "2001:db8:1:2:3:4:5:6", undefined, "2001:db8:1:2::/64"],
  ["a link-local address without its zone", { hops: 0 }, "fe80::1%eth0", undefined, "fe80::/64"],
  ["a connection that has gone", { hops: 0 }, undefined, "198.51.100.7", "unknown"],
  ["no stranger's word about itself", inside, "192.0.2.1", "198.51.100.7", "192.0.2.1"],
  ["no forwarded address when no proxy is trusted", { hops: 0 }, "10.0.0.1", "198.51.100.7", "10.0.0.1"],
  ["what a trusted proxy says", inside, "10.0.0.1", "198.51.100.7", "198.51.100.7"],
  ["what a trusted proxy says over IPv6", inside, "fd00::1", "2001:db8::9", "2001:db8::/64"],
  ["the nearest that is not trusted", inside, "10.0.0.1", "6.6.6.6, 198.51.100.7, 10.0.0.2", "198.51.100.7"],
  ["several headers as one", inside, "10.0.0.1", ["6.6.6.6", "198.51.100.7"], "198.51.100.7"],
  ["one proxy, counted", { hops: 1 }, "10.0.0.1", "6.6.6.6, 198.51.100.7", "198.51.100.7"],
  ["two proxies, counted", { hops: 2 }, "10.0.0.1", "6.6.6.6, 198.51.100.7, 10.0.0.2", "198.51.100.7"],
  ["an address with its port", inside, "10.0.0.1", "198.51.100.7:4711", "198.51.100.7"],
  ["an IPv6 address with its port", inside, "10.0.0.1", "[2001:db8::9]:4711", "2001:db8::/64"],
  ["the proxy itself when it hides its clients", inside, "10.0.0.1", "unknown", "10.0.0.1"],
  ["the proxy itself when it says nonsense", inside, "10.0.0.1", "6.6.6.6, 127.1", "10.0.0.1"],
  ["the proxy itself when it says nothing", inside, "10.0.0.1", undefined, "10.0.0.1"],
])("where a request comes from: %s", (_what, trusted, remote, header, address) => {
  expect(read(trusted, remote, header)).toBe(address);
});
