/** Composition of metrics: off, or served for Prometheus at an address of their own. */
import type { Config } from "../config/config.js";
import { NO_METERS, type Meters } from "../domain/common/meters.js";
import type { Log } from "../lib/log.js";
import type { Closers } from "./closers.js";

/** Rejects when the address cannot be bound. */
export async function openMeters(
  { metricsAddress }: Pick<Config, "metricsAddress">,
  log: Log,
  closers: Closers,
): Promise<Meters> {
  if (metricsAddress === undefined) return NO_METERS;
  // Loaded only when metrics are on.
  const [{ Metrics }, { openMetricsServer }] = await Promise.all([
    import("../telemetry/metrics.js"),
    import("../telemetry/metrics-server.js"),
  ]);
  const metrics = new Metrics();
  const server = await openMetricsServer(metrics, metricsAddress, log);
  closers.add("the metrics server", () => server.close());
  log.info({ url: `${server.url}/metrics` }, "serving metrics without authentication");
  return metrics;
}
