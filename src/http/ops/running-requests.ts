/** Counts requests that are being answered, so that the end of the server waits for them and for nothing else. */
import type { FastifyInstance } from "fastify";

export type RunningRequests = {
  /** From now on answers tell clients to let go of their connection. Resolves when no request is running. */
  end(): Promise<void>;
};

/** Counts from the moment a request's head has been read until its answer is sent or its client has gone. */
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
    // Fastify's own onResponse is silent when the client has gone.
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
