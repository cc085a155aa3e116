// Variables that bound how often strangers and people may ask, and whose word on where they come from counts; part of
// the table in config.ts.
import ipaddr from "ipaddr.js";
import { type Accepted, onOrOff, wholeNumber, withDefault } from "./variable.js";

/**
 * Whom a request's `X-Forwarded-For` is believed from: the next so many machines on the way, or those in these networks
 * (CIDR notation).
 */
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
  // `isValid` takes 10.1 and 0x7f000001 for addresses too.
  if (ipaddr.IPv6.isValid(word)) return [`${word}/128`];
  return ipaddr.IPv4.isValidFourPartDecimal(word) ? [`${word}/32`] : undefined;
}

const MOST_USES = 1_000_000_000;
const uses = wholeNumber(0, MOST_USES);
const perMinute: Accepted<number> = {
  ...uses,
  expected: `off, or ${uses.expected}`,
  parse: (text, surroundings) => (text === "off" ? 0 : uses.parse(text, surroundings)),
};

const cpuMs = wholeNumber(0, 1_000_000);
const perSecond: Accepted<number> = {
  ...cpuMs,
  expected: `off, or ${cpuMs.expected}`,
  parse: (text, surroundings) => (text === "off" ? 0 : cpuMs.parse(text, surroundings)),
};

/** GraphiQL's introspection query has 240 nodes and must fit. */
const FEWEST_NODES = 300;
/** Below it not even a page of ordinary messages fits. */
const LEAST_ANSWER_BYTES = 65_536;
const MOST_ANSWER_BYTES = 268_435_456;

export const limitVariables = {
  maxAnswerBytes: withDefault(
    {
      name: "PARLEY_MAX_ANSWER_BYTES",
      meaning:
        "Bytes of one answer, or of one event of a subscription; larger ones are refused with ANSWER_TOO_LARGE.",
    },
    "16777216",
    wholeNumber(LEAST_ANSWER_BYTES, MOST_ANSWER_BYTES),
  ),
  maxBytesPerUser: withDefault(
    {
      name: "PARLEY_MAX_BYTES_PER_USER",
      meaning:
        "Bytes of one user's answers and events that this server has made and the user has not taken yet; beyond it queries are refused with RATE_LIMITED, and streams wait.",
    },
    "67108864",
    wholeNumber(LEAST_ANSWER_BYTES, 4 * MOST_ANSWER_BYTES),
  ),
  trustedProxies: withDefault(
    {
      name: "PARLEY_TRUSTED_PROXIES",
      meaning:
        "Whose X-Forwarded-For is believed: how many proxies stand before this server, or their addresses and networks.",
    },
    "",
    proxies,
  ),
  rateLimits: withDefault(
    {
      name: "PARLEY_RATE_LIMITS",
      meaning: "Whether anything is counted that may be asked too often: on or off.",
    },
    "on",
    onOrOff,
  ),
  rateLimitUserMutations: withDefault(
    {
      name: "PARLEY_RATE_LIMIT_USER_MUTATIONS",
      meaning: "Mutations of one person in a minute, each root field for itself; 0 or off = any number.",
    },
    "1200",
    perMinute,
  ),
  rateLimitAddressMutations: withDefault(
    {
      name: "PARLEY_RATE_LIMIT_ADDRESS_MUTATIONS",
      meaning: "Mutations from one address (IPv6: one /64) in a minute; 0 or off = any number.",
    },
    "12000",
    perMinute,
  ),
  rateLimitAddressVisits: withDefault(
    {
      name: "PARLEY_RATE_LIMIT_ADDRESS_VISITS",
      meaning:
        "Visits to the pages of signing in and of authorisations from one address in a minute; 0 or off = any number.",
    },
    "600",
    perMinute,
  ),
  rateLimitAddressFailures: withDefault(
    {
      name: "PARLEY_RATE_LIMIT_ADDRESS_FAILURES",
      meaning:
        "Bad tokens and links from one address in a minute, after which only tokens that were good before are looked at; 0 or off = any number.",
    },
    "600",
    perMinute,
  ),
  maxDocumentNodes: withDefault(
    {
      name: "PARLEY_MAX_DOCUMENT_NODES",
      meaning:
        "Fields and fragments of one GraphQL document, each counted wherever it is used; larger ones are refused unread.",
    },
    "1000",
    wholeNumber(FEWEST_NODES, 100_000),
  ),
  maxRunningPerUser: withDefault(
    {
      name: "PARLEY_USER_OPERATIONS",
      meaning: "Queries and mutations of one user that run at the same time on a server; others wait.",
    },
    "16",
    wholeNumber(1, 10_000),
  ),
  userCpuMsPerSecond: withDefault(
    {
      name: "PARLEY_USER_CPU_MS",
      meaning:
        "Milliseconds of a server's CPU that one user's queries and mutations may take in each second; 0 or off = any number.",
    },
    "300",
    perSecond,
  ),
  maxStrangersPerAddress: withDefault(
    {
      name: "PARLEY_STRANGERS_PER_ADDRESS",
      meaning:
        "Connections from one address (IPv6: one /64) without a valid token yet; one more cuts the oldest.",
    },
    "64",
    wholeNumber(1, 1_000_000),
  ),
};
