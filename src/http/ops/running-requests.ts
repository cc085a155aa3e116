/** Counts running requests, so that shutdown waits for exactly those. */
import type { FastifyInstance } from "fastify";

export type RunningRequests = {
  /** Makes all further responses close their connection. Resolves when no request is running. */
  end(): Promise<void>;
};

/** Counts a request from the moment its head is read until its response is sent or its client has gone. */
export function countRunningRequests(app: FastifyInstance): RunningRequests {
  let running = 0;
  let isEnding = false;
  let onNone: () => void = () => undefined;
  const leave = () => {
    running -= 1;
    if (running === 0) onNone();
  };
  app.addHook("onRequest", async (_request, reply) => {
    running += 1;
    // Fastify's onResponse does not run when the client has gone.
    reply.raw.once("close", leave);
  });
  app.addHook("onSend", async (_request, reply) => {
    if (isEnding) reply.header("connection", "close");
  });
  return {
    end() {
      isEnding = true;
      if (running === 0) return Promise.resolve();
      return new Promise((resolve) => (onNone = resolve));
    },
  };
}
