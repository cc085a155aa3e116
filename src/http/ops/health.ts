/**
 * What an orchestrator asks: `GET /healthz`, is the process alive, and `GET /readyz`, should it get requests.
 * Both are open to everyone and say nothing but words of ours.
 */
import type { FastifyInstance } from "fastify";
import type { Clock } from "../../lib/clock.js";
import { sleep } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";

/**
 * What was looked at and whether it is well. `degraded` is worth knowing but no reason to send nobody here.
 * Names are shown to anyone who asks.
 */
export type HealthReport = { checks: Record<string, "ok" | "degraded" | "failing"> };

export type Readiness = {
  status: "ready" | "unavailable" | "closing";
  checks: HealthReport["checks"];
};

/** Strangers may ask as often as they like; the database is asked once in this time. */
const REPORT_CACHE_MS = 1_000;
/** A check that takes longer has failed. */
const CHECK_LIMIT_MS = 2_000;

export type HealthOptions = {
  /** Looks at what requests need, at least the database. May reject, which counts as failing. */
  health: () => Promise<HealthReport>;
  isClosing: () => boolean;
  log: Log;
  clock: Clock;
};

/** Adds both routes. `/readyz` answers 200 or 503. */
export function addHealthRoutes(app: FastifyInstance, options: HealthOptions): void {
  const report = rememberReport(options);
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
  const isWell = Object.values(checks).every((check) => check !== "failing");
  return { status: isWell ? "ready" : "unavailable", checks };
}

function rememberReport({ health, log, clock }: HealthOptions): () => Promise<HealthReport> {
  let latest: { report: Promise<HealthReport>; at: number } | undefined;
  const look = async (): Promise<HealthReport> => {
    const done = new AbortController();
    const tooLate = sleep(clock, CHECK_LIMIT_MS, done.signal).then((): HealthReport => {
      return { checks: { health: "failing" } };
    });
    try {
      return await Promise.race([health(), tooLate]);
    } catch (failure) {
      log.warn({ err: failure }, "The health check failed");
      return { checks: { health: "failing" } };
    } finally {
      done.abort();
    }
  };
  return () => {
    if (!latest || clock.now() - latest.at >= REPORT_CACHE_MS) latest = { report: look(), at: clock.now() };
    return latest.report;
  };
}
