/** Whoever measures this server: nobody, or Prometheus, for which a door of its own opens. */
import type { Config } from "../config/config.js";
import { NO_METERS, type Meters } from "../domain/common/meters.js";
import type { Log } from "../lib/log.js";
import type { Closers } from "./closers.js";

/** Rejects when the address cannot be taken. */
export async function openMeters(
  { metricsAddress }: Pick<Config, "metricsAddress">,
  log: Log,
  closers: Closers,
): Promise<Meters> {
  if (metricsAddress === undefined) return NO_METERS;
  // Loaded only where somebody looks.
  const [{ Metrics }, { openMetricsServer }] = await Promise.all([
    import("../telemetry/metrics.js"),
    import("../telemetry/metrics-server.js"),
  ]);
  const metrics = new Metrics();
  const door = await openMetricsServer(metrics, metricsAddress, log);
  closers.add("the door to the metrics", () => door.close());
  log.info({ url: `${door.url}/metrics` }, "Metrics are told here, to everybody who asks");
  return metrics;
}
