// Public and private addresses: decision table. URLs are parsed as requests parse them.
import { describe, expect, test } from "vitest";
import { addressOf, isLocalName, isPublicAddress } from "./address-rules.js";

const PUBLIC = [
  "1.1.1.1",
  "8.8.8.8",
  "100.63.255.255",
  "100.128.0.1",
  "172.15.255.255",
  "172.32.0.1",
  "192.167.255.255",
  "223.255.255.254",
  "2606:4700:4700::1111",
  "2a00:1450:4001::1",
  "::ffff:8.8.8.8",
  "64:ff9b::808:808",
];

const NOT_PUBLIC = {
  loopback: ["127.0.0.1", "127.255.255.254", "::1"],
  unspecified: ["0.0.0.0", "0.1.2.3", "::"],
  private: ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1"],
  "link-local": ["169.254.169.254", "169.254.0.1", "fe80::1", "fe80::1%eth0", "fec0::1"],
  "shared address space of providers": ["100.64.0.1", "100.127.255.255"],
  "unique local": ["fc00::1", "fd12:3456::1", "fd00:ec2::254"],
  multicast: ["224.0.0.1", "239.255.255.255", "ff02::1"],
  broadcast: ["255.255.255.255"],
  reserved: ["240.0.0.1", "192.0.0.8", "198.18.0.1", "192.88.99.1", "100::1", "5f00::1", "4000::1"],
  documentation: ["192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "3fff::1"],
  "a private address within another": [
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:a00:1",
    "::127.0.0.1",
    "::7f00:1",
    "64:ff9b::7f00:1",
    "64:ff9b::10.0.0.1",
    "64:ff9b:1::808:808",
    "2002:7f00:1::",
    "2002:a00:1::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
  ],
  "no address": ["", "localhost", "1.2.3.4.5", "[::1]", "1.2.3.4/8"],
};

test.each(PUBLIC)("%s is public", (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

describe.each(Object.entries(NOT_PUBLIC))("%s", (_, addresses) => {
  test.each(addresses)("%s is not public", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

test.each([
  ["http://2130706433/", "127.0.0.1"],
  ["http://0177.0.0.1/", "127.0.0.1"],
  ["http://0x7f.1/", "127.0.0.1"],
  ["http://127.1/", "127.0.0.1"],
  ["http://127.0.0.1./", "127.0.0.1"],
  ["http://①②⑦.0.0.1/", "127.0.0.1"],
  ["http://0/", "0.0.0.0"],
  ["http://[::ffff:127.0.0.1]/", "::ffff:7f00:1"],
  ["http://[::1]:8080/", "::1"],
])("%s is the address %s, which is not public", (url, address) => {
  expect(addressOf(new URL(url).hostname)).toBe(address);
  expect(isPublicAddress(address)).toBe(false);
});

test.each([
  ["http://localhost/", true],
  ["http://LOCALHOST./", true],
  ["http://a.b.localhost/", true],
  ["http://localhost.example/", false],
  ["http://notlocalhost/", false],
])("the name in %s means this machine: %s", (url, isLocal) => {
  const { hostname } = new URL(url);
  expect([addressOf(hostname), isLocalName(hostname)]).toEqual([undefined, isLocal]);
});
