/** How the agent is reached: a port on which it listens, or a call to a server that it keeps up. */
import type { Clock } from "../lib/clock.js";
import type { Log } from "../lib/log.js";
import type { Agent } from "./agent.js";
import { DialOut } from "./dial-out/dial-out.js";
import type { EndpointSettings } from "./endpoint-settings.js";
import { createAgentServer } from "./http.js";
import { hashAgentToken, tokenWithin } from "./protocol/dial-out.js";
import type { ListeningLine, RegisteredLine } from "./protocol/startup.js";

export type EndpointOptions = {
  agent: Agent;
  endpoint: EndpointSettings;
  token: string;
  /** Tells whoever started the agent, in a line on stdout. */
  say: (line: ListeningLine | RegisteredLine) => void;
  clock: Clock;
  log: Log;
};

export type Endpoint = {
  /** Requests under way are cut; end what they wait for first. */
  close(): Promise<void>;
};

/** A endpoint that listens does so when this resolves; it rejects when it cannot. One that calls goes on trying. */
export async function openEndpoint(options: EndpointOptions): Promise<Endpoint> {
  return options.endpoint.kind === "listen"
    ? listen(options, options.endpoint)
    : call(options, options.endpoint);
}

const LOOPBACK = /^(?:127\.[\d.]+|::1|localhost)$/;

async function listen(
  { agent, token, say, log }: EndpointOptions,
  { host, port, tls }: Extract<EndpointSettings, { kind: "listen" }>,
): Promise<Endpoint> {
  if (tls === null && !LOOPBACK.test(host)) {
    log.warn({ host }, "The agent listens without TLS: its token and all it does can be read on the way");
  }
  const server = createAgentServer({ agent, token, tls, log });
  const url = await server.listen({ host, port });
  say({ event: "listening", url, instanceId: agent.health().instanceId });
  return { close: () => server.close() };
}

async function call(
  { agent, token, say, clock, log }: EndpointOptions,
  { servers }: Extract<EndpointSettings, { kind: "dial-out" }>,
): Promise<Endpoint> {
  warnOfPlainServers(servers, log);
  const { instanceId } = agent.health();
  const tokenInside = tokenWithin(hashAgentToken(token), instanceId);
  const server = createAgentServer({ agent, token: tokenInside, log });
  await server.ready();
  const dialOut = new DialOut({
    servers,
    token,
    instanceId,
    accept: (stream) => server.server.emit("connection", stream),
    onChange: (registeredAt) => {
      agent.metrics.setRegistered(registeredAt !== null);
      if (registeredAt === null) return;
      agent.metrics.countCall("registered");
      say({ event: "registered", server: registeredAt, instanceId });
    },
    onFailure: () => agent.metrics.countCall("failed"),
    clock,
    log,
  });
  return {
    async close() {
      // What is answered now still gets through; the goodbye comes last.
      await server.close();
      await dialOut.close();
    },
  };
}

function warnOfPlainServers(servers: readonly string[], log: Log): void {
  for (const server of servers) {
    const { protocol, hostname } = new URL(server);
    if (protocol === "wss:" || LOOPBACK.test(hostname)) continue;
    log.warn(
      { server },
      "The server is called without TLS: the token and all that is done can be read on the way",
    );
  }
}
