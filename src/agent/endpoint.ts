/** The agent's endpoint: a listening port, or a supervised outgoing connection to a server. */
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
  /** Prints a line on stdout, for the process that started the agent. */
  print: (line: ListeningLine | RegisteredLine) => void;
  clock: Clock;
  log: Log;
};

export type Endpoint = {
  /** Cuts requests under way; end what they wait for first. */
  close(): Promise<void>;
};

/** A listening endpoint is ready when this resolves, or rejects; one that dials out keeps trying in the background. */
export async function openEndpoint(options: EndpointOptions): Promise<Endpoint> {
  return options.endpoint.kind === "listen"
    ? listen(options, options.endpoint)
    : dialOut(options, options.endpoint);
}

const LOOPBACK = /^(?:127\.[\d.]+|::1|localhost)$/;

async function listen(
  { agent, token, print, log }: EndpointOptions,
  { host, port, tls }: Extract<EndpointSettings, { kind: "listen" }>,
): Promise<Endpoint> {
  if (tls === null && !LOOPBACK.test(host)) {
    log.warn({ host }, "listening without TLS: the token and all traffic can be read in transit");
  }
  const server = createAgentServer({ agent, token, tls, log });
  const url = await server.listen({ host, port });
  print({ event: "listening", url, instanceId: agent.health().instanceId });
  return { close: () => server.close() };
}

async function dialOut(
  { agent, token, print, clock, log }: EndpointOptions,
  { servers }: Extract<EndpointSettings, { kind: "dial-out" }>,
): Promise<Endpoint> {
  warnOfPlainServers(servers, log);
  const { instanceId } = agent.health();
  const tokenInside = tokenWithin(hashAgentToken(token), instanceId);
  const server = createAgentServer({ agent, token: tokenInside, log });
  await server.ready();
  const connection = new DialOut({
    servers,
    token,
    instanceId,
    accept: (stream) => server.server.emit("connection", stream),
    onChange: (registeredAt) => {
      agent.metrics.setRegistered(registeredAt !== null);
      if (registeredAt === null) return;
      agent.metrics.countCall("registered");
      print({ event: "registered", server: registeredAt, instanceId });
    },
    onFailure: () => agent.metrics.countCall("failed"),
    clock,
    log,
  });
  return {
    async close() {
      // Responses under way still get through; the connection closes last.
      await server.close();
      await connection.close();
    },
  };
}

function warnOfPlainServers(servers: readonly string[], log: Log): void {
  for (const server of servers) {
    const { protocol, hostname } = new URL(server);
    if (protocol === "wss:" || LOOPBACK.test(hostname)) continue;
    log.warn(
      { server },
      "connecting to server without TLS: the token and all traffic can be read in transit",
    );
  }
}
