/** Composition of tracing: off, or exported to an OpenTelemetry collector. */
import type { Config } from "../config/config.js";
import { NO_TRACES, type Traces } from "../domain/common/traces.js";
import { systemClock } from "../lib/clock.js";
import type { Log } from "../lib/log.js";
import { VERSION } from "../lib/version.js";
import type { Closers } from "./closers.js";

/** OpenTelemetry's default. */
const DEFAULT_ENDPOINT = "http://localhost:4318";

export async function openTracing(config: Config, log: Log, closers: Closers): Promise<Traces> {
  const { tracesEndpoint, tracesHeaders: headers, tracesService: serviceName, tracesRatio: ratio } = config;
  if (!(config.traces ?? tracesEndpoint !== undefined)) return NO_TRACES;
  // Loaded only when tracing is on.
  const { openTraces } = await import("../telemetry/open-traces.js");
  const endpoint = (tracesEndpoint ?? DEFAULT_ENDPOINT).replace(/\/+$/, "");
  const dependencies = { endpoint, headers, serviceName, version: VERSION, ratio, log, clock: systemClock };
  const { traces, close } = openTraces(dependencies);
  closers.add("the trace exporter", close);
  // The address may contain a password.
  log.info({ host: new URL(endpoint).host, serviceName, ratio }, "tracing requests and turns");
  return traces;
}
