/**
 * Health endpoints for orchestrators: `GET /healthz` (the process is alive) and `GET /readyz` (it should get requests).
 * Both are unauthenticated and return fixed words only.
 */
import type { FastifyInstance } from "fastify";
import type { Clock } from "../../lib/clock.js";
import { sleep } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";

/** Results of named checks. `degraded` does not make the server unready. The names are public. */
export type HealthReport = { checks: Record<string, "ok" | "degraded" | "failing"> };

export type Readiness = {
  status: "ready" | "unavailable" | "closing";
  checks: HealthReport["checks"];
};

/** The endpoints are unauthenticated; the checks run at most once in this time. */
const REPORT_CACHE_MS = 1_000;
/** A check that takes longer counts as failing. */
const CHECK_LIMIT_MS = 2_000;

export type HealthOptions = {
  /** Checks what requests depend on, at least the database. A rejection counts as failing. */
  health: () => Promise<HealthReport>;
  isClosing: () => boolean;
  log: Log;
  clock: Clock;
};

/** Adds both routes. `/readyz` responds with 200 or 503. */
export function addHealthRoutes(app: FastifyInstance, options: HealthOptions): void {
  const report = cacheReport(options);
  app.get("/healthz", async (_request, reply) => {
    return reply.header("cache-control", "no-store").send({ status: "ok" });
  });
  app.get("/readyz", async (_request, reply) => {
    const readiness = describe(await report(), options.isClosing());
    const status = readiness.status === "ready" ? 200 : 503;
    return reply.code(status).header("cache-control", "no-store").send(readiness);
  });
}

function describe({ checks }: HealthReport, isClosing: boolean): Readiness {
  if (isClosing) return { status: "closing", checks };
  const isReady = Object.values(checks).every((check) => check !== "failing");
  return { status: isReady ? "ready" : "unavailable", checks };
}

function cacheReport({ health, log, clock }: HealthOptions): () => Promise<HealthReport> {
  let latest: { report: Promise<HealthReport>; at: number } | undefined;
  const check = async (): Promise<HealthReport> => {
    const done = new AbortController();
    const tooLate = sleep(clock, CHECK_LIMIT_MS, done.signal).then((): HealthReport => {
      return { checks: { health: "failing" } };
    });
    try {
      return await Promise.race([health(), tooLate]);
    } catch (failure) {
      log.warn({ err: failure }, "health check failed");
      return { checks: { health: "failing" } };
    } finally {
      done.abort();
    }
  };
  return () => {
    if (!latest || clock.now() - latest.at >= REPORT_CACHE_MS) latest = { report: check(), at: clock.now() };
    return latest.report;
  };
}
