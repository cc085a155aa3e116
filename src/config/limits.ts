// Variables of rate limits, response sizes and trusted proxies; part of the table in config.ts.
import ipaddr from "ipaddr.js";
import { type Accepted, onOrOff, wholeNumber, withDefault } from "./variable.js";

/** Proxies whose `X-Forwarded-For` is trusted: a number of hops, or networks in CIDR notation. */
export type TrustedProxies = { hops: number } | { networks: readonly string[] };

const MOST_HOPS = 16;
const LOOPBACK = ["127.0.0.0/8", "::1/128"];

const proxies: Accepted<TrustedProxies> = {
  expected: `a number of proxies up to ${MOST_HOPS}, or addresses and networks such as loopback, 10.0.0.0/8, separated by commas`,
  secret: false,
  parse(text) {
    const words = text
      .split(",")
      .map((word) => word.trim())
      .filter((word) => word !== "");
    const [first = ""] = words;
    if (words.length === 1 && /^\d+$/.test(first)) {
      const hops = Number(first);
      return hops <= MOST_HOPS ? { hops } : undefined;
    }
    const networks = words.map(readNetwork);
    return networks.includes(undefined) ? undefined : { networks: networks.flatMap((it) => it ?? []) };
  },
};

function readNetwork(word: string): readonly string[] | undefined {
  if (word === "loopback") return LOOPBACK;
  if (ipaddr.isValidCIDR(word)) return [word];
  // `isValid` also accepts 10.1 and 0x7f000001.
  if (ipaddr.IPv6.isValid(word)) return [`${word}/128`];
  return ipaddr.IPv4.isValidFourPartDecimal(word) ? [`${word}/32`] : undefined;
}

const MOST_USES = 1_000_000_000;
const uses = wholeNumber(0, MOST_USES);
const perMinute: Accepted<number> = {
  ...uses,
  expected: `off, or ${uses.expected}`,
  parse: (text, context) => (text === "off" ? 0 : uses.parse(text, context)),
};

const cpuMs = wholeNumber(0, 1_000_000);
const perSecond: Accepted<number> = {
  ...cpuMs,
  expected: `off, or ${cpuMs.expected}`,
  parse: (text, context) => (text === "off" ? 0 : cpuMs.parse(text, context)),
};

/** GraphiQL's introspection query, which must be accepted, has 240 nodes. */
const FEWEST_NODES = 300;
/** A page of ordinary messages must fit. */
const LEAST_ANSWER_BYTES = 65_536;
const MOST_ANSWER_BYTES = 268_435_456;

export const limitVariables = {
  maxResponseBytes: withDefault(
    {
      name: "PARLEY_MAX_ANSWER_BYTES",
      meaning:
        "Bytes of one response, or of one subscription event; larger ones are rejected with ANSWER_TOO_LARGE.",
    },
    "16777216",
    wholeNumber(LEAST_ANSWER_BYTES, MOST_ANSWER_BYTES),
  ),
  maxBytesPerUser: withDefault(
    {
      name: "PARLEY_MAX_BYTES_PER_USER",
      meaning:
        "Bytes of one user's responses and events in this server's memory; beyond it queries are rejected with RATE_LIMITED, and streams wait.",
    },
    "67108864",
    wholeNumber(LEAST_ANSWER_BYTES, 4 * MOST_ANSWER_BYTES),
  ),
  trustedProxies: withDefault(
    {
      name: "PARLEY_TRUSTED_PROXIES",
      meaning:
        "Proxies whose X-Forwarded-For is trusted: their number in front of this server, or their addresses and networks.",
    },
    "",
    proxies,
  ),
  rateLimits: withDefault(
    {
      name: "PARLEY_RATE_LIMITS",
      meaning: "Whether rate limits are applied: on or off.",
    },
    "on",
    onOrOff,
  ),
  rateLimitUserMutations: withDefault(
    {
      name: "PARLEY_RATE_LIMIT_USER_MUTATIONS",
      meaning: "Mutations of one user per minute, each root field counted; 0 or off = no limit.",
    },
    "1200",
    perMinute,
  ),
  rateLimitAddressMutations: withDefault(
    {
      name: "PARLEY_RATE_LIMIT_ADDRESS_MUTATIONS",
      meaning: "Mutations from one address (IPv6: one /64) per minute; 0 or off = no limit.",
    },
    "12000",
    perMinute,
  ),
  rateLimitAddressVisits: withDefault(
    {
      name: "PARLEY_RATE_LIMIT_ADDRESS_VISITS",
      meaning:
        "Requests for sign-in and authorization pages from one address per minute; 0 or off = no limit.",
    },
    "600",
    perMinute,
  ),
  rateLimitAddressFailures: withDefault(
    {
      name: "PARLEY_RATE_LIMIT_ADDRESS_FAILURES",
      meaning:
        "Invalid tokens and links from one address per minute, after which only tokens that were valid before are accepted; 0 or off = no limit.",
    },
    "600",
    perMinute,
  ),
  maxDocumentNodes: withDefault(
    {
      name: "PARLEY_MAX_DOCUMENT_NODES",
      meaning:
        "Fields and fragments of one GraphQL document, each counted wherever it is used; larger documents are rejected before execution.",
    },
    "1000",
    wholeNumber(FEWEST_NODES, 100_000),
  ),
  maxRunningPerUser: withDefault(
    {
      name: "PARLEY_USER_OPERATIONS",
      meaning: "Queries and mutations of one user that run concurrently on a server; further ones wait.",
    },
    "16",
    wholeNumber(1, 10_000),
  ),
  userCpuMsPerSecond: withDefault(
    {
      name: "PARLEY_USER_CPU_MS",
      meaning:
        "Milliseconds of a server's CPU per second for one user's queries and mutations; 0 or off = no limit.",
    },
    "300",
    perSecond,
  ),
  maxAnonymousPerAddress: withDefault(
    {
      name: "PARLEY_UNAUTHENTICATED_PER_ADDRESS",
      meaning: "Unauthenticated connections from one address (IPv6: one /64); one more closes the oldest.",
    },
    "64",
    wholeNumber(1, 1_000_000),
  ),
};
