// Variables of operations: database startup, records, traces and metrics; part of the table in config.ts.
import {
  type Accepted,
  address,
  oneOf,
  onOrOff,
  optional,
  wholeNumber,
  withDefault,
  word,
} from "./variable.js";

/** An address to listen on. `host` is without brackets. */
export type ListenAddress = { host: string; port: number };

const LISTEN_ADDRESS = /^(?:\[([0-9a-f:.]+)\]|([^\s:/@[\]]+)):(\d{1,5})$/i;
const LAST_PORT = 65_535;

const listenAddress: Accepted<ListenAddress> = {
  expected: "a host and a port, such as 127.0.0.1:9464",
  secret: false,
  parse(text) {
    const [, six, name, digits] = LISTEN_ADDRESS.exec(text) ?? [];
    const host = six ?? name;
    const port = Number(digits);
    return host === undefined || port > LAST_PORT ? undefined : { host, port };
  },
};

const ratio: Accepted<number> = {
  expected: "a number from 0 to 1, such as 0.1",
  secret: false,
  parse(text) {
    const value = Number(text);
    return /^\d*\.?\d+$/.test(text) && value <= 1 ? value : undefined;
  },
};

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/** OpenTelemetry's format: `name=value,name=value`, percent-encoded. */
const headers: Accepted<Readonly<Record<string, string>>> = {
  expected: "headers as name=value, separated by commas, values percent-encoded",
  secret: true,
  parse(text) {
    const pairs = text.split(",").map((pair) => [pair.split("=", 1)[0] ?? "", pair] as const);
    try {
      const read = pairs.map(([name, pair]) => {
        return [name.trim(), decodeURIComponent(pair.slice(name.length + 1).trim())] as const;
      });
      const isGood = read.every(([name, value]) => HEADER_NAME.test(name) && /^[\x20-\x7e]+$/.test(value));
      return isGood ? Object.fromEntries(read) : undefined;
    } catch {
      return undefined; // An invalid escape.
    }
  },
};

const MOST_RETENTION_DAYS = 90;

const LONGEST_DATABASE_WAIT_MS = 3_600_000;

export const operationsVariables = {
  databaseWaitMs: withDefault(
    {
      name: "PARLEY_DATABASE_WAIT_MS",
      meaning: "Milliseconds that a start waits for a database that is not available yet; 0 = does not wait.",
    },
    "60000",
    wholeNumber(0, LONGEST_DATABASE_WAIT_MS, " of milliseconds"),
  ),
  debugRecords: withDefault(
    {
      name: "PARLEY_DEBUG_RECORDS",
      meaning: "Whether requests to models and their answers are recorded in full for admins: on or off.",
    },
    "off",
    onOrOff,
  ),
  debugRetentionDays: withDefault(
    { name: "PARLEY_DEBUG_RETENTION_DAYS", meaning: "Days after which such records are deleted." },
    "3",
    wholeNumber(1, MOST_RETENTION_DAYS),
  ),
  traces: optional(
    {
      name: "PARLEY_TRACES",
      meaning: "Whether requests and turns are traced and exported to an OpenTelemetry collector: on or off.",
    },
    "on when OTEL_EXPORTER_OTLP_ENDPOINT is set",
    onOrOff,
  ),
  tracesEndpoint: optional(
    {
      name: "OTEL_EXPORTER_OTLP_ENDPOINT",
      meaning: "The collector's address for OTLP over HTTP; /v1/traces is appended.",
    },
    "http://localhost:4318",
    address(["http:", "https:"]),
  ),
  tracesHeaders: withDefault(
    {
      name: "OTEL_EXPORTER_OTLP_HEADERS",
      meaning: "Headers for the collector, as name=value separated by commas.",
    },
    "",
    { ...headers, parse: (text, around) => (text === "" ? {} : headers.parse(text, around)) },
  ),
  tracesService: withDefault(
    { name: "OTEL_SERVICE_NAME", meaning: "Service name of this deployment in traces." },
    "parley",
    word("a name without spaces"),
  ),
  tracesRatio: withDefault(
    {
      name: "PARLEY_TRACES_RATIO",
      meaning: "The sampled fraction of requests and turns, from 0 to 1.",
    },
    "1",
    ratio,
  ),
  metricsAddress: optional(
    {
      name: "PARLEY_METRICS_ADDRESS",
      meaning:
        "Host and port that serve GET /metrics for Prometheus, without authentication; port 0 takes any.",
    },
    "none; no metrics",
    listenAddress,
  ),
  usageLimitFailure: withDefault(
    {
      name: "PARLEY_USAGE_LIMIT_FAILURE",
      meaning: "What happens while a user's usage limit cannot be checked: closed refuses, open allows.",
    },
    "closed",
    oneOf(["closed", "open"]),
  ),
};
