/** Whoever follows requests and turns: nobody, or a collector of OpenTelemetry. */
import type { Config } from "../config/config.js";
import { NO_TRACES, type Traces } from "../domain/common/traces.js";
import { systemClock } from "../lib/clock.js";
import type { Log } from "../lib/log.js";
import { VERSION } from "../lib/version.js";
import type { Closers } from "./closers.js";

/** OpenTelemetry's own. */
const USUAL_ENDPOINT = "http://localhost:4318";

export async function openTracing(config: Config, log: Log, closers: Closers): Promise<Traces> {
  const { tracesEndpoint, tracesHeaders: headers, tracesService: serviceName, tracesRatio: ratio } = config;
  if (!(config.traces ?? tracesEndpoint !== undefined)) return NO_TRACES;
  // Loaded only where somebody looks.
  const { openTraces } = await import("../telemetry/open-traces.js");
  const endpoint = (tracesEndpoint ?? USUAL_ENDPOINT).replace(/\/+$/, "");
  const dependencies = { endpoint, headers, serviceName, version: VERSION, ratio, log, clock: systemClock };
  const { traces, close } = openTraces(dependencies);
  closers.add("the way to the traces' collector", close);
  // The address may hold a password.
  log.info({ host: new URL(endpoint).host, serviceName, ratio }, "Requests and turns are followed");
  return traces;
}
