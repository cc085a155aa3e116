/** Settings of the agent's endpoint: it listens, or it dials out to servers. */
import { z } from "zod";
import { DIAL_OUT_PATH } from "./protocol/dial-out.js";

/** By default an agent can be reached from its own machine only. */
export const DEFAULT_AGENT_HOST = "127.0.0.1";

export type EndpointSettings =
  | {
      kind: "listen";
      host: string;
      /** 0 = any free port. */
      port: number;
      /** PEM texts; null = plain HTTP. */
      tls: { cert: string; key: string } | null;
    }
  /** WebSocket addresses, tried in turn until one registers the agent. */
  | { kind: "dial-out"; servers: readonly string[] };

export const endpointVariables = {
  PARLEY_AGENT_HOST: z
    .string()
    .regex(/^[^\s/]+$/, "must be a host name or IP address")
    .optional(),
  PARLEY_AGENT_PORT: z.coerce.number("must be a number").int().min(0).max(65_535).optional(),
  PARLEY_AGENT_TLS_CERT: z.string().optional(),
  PARLEY_AGENT_TLS_KEY: z.string().optional(),
  PARLEY_AGENT_SERVER_URL: z.string().optional(),
};
type EndpointVariables = z.infer<z.ZodObject<typeof endpointVariables>>;

/** Throws an `Error` whose message names the wrong setting. `readText` reads a file. */
export function readEndpoint(
  variables: EndpointVariables,
  readText: (path: string) => string,
): EndpointSettings {
  const {
    PARLEY_AGENT_SERVER_URL: servers,
    PARLEY_AGENT_TLS_CERT: cert,
    PARLEY_AGENT_TLS_KEY: key,
  } = variables;
  const { PARLEY_AGENT_HOST: host, PARLEY_AGENT_PORT: port } = variables;
  if ((cert === undefined) !== (key === undefined)) {
    throw new Error("PARLEY_AGENT_TLS_CERT and PARLEY_AGENT_TLS_KEY: must be set both or neither");
  }
  if (servers === undefined) {
    const tls = cert === undefined || key === undefined ? null : { cert: readText(cert), key: readText(key) };
    return { kind: "listen", host: host ?? DEFAULT_AGENT_HOST, port: port ?? 0, tls };
  }
  if (host !== undefined || port !== undefined || cert !== undefined) {
    throw new Error(
      "PARLEY_AGENT_SERVER_URL: an agent that dials out does not listen; give no host, port or TLS files",
    );
  }
  return { kind: "dial-out", servers: servers.split(",").map((text) => serverAddress(text.trim())) };
}

const WEB_SOCKET_PROTOCOLS: Record<string, string> = {
  "ws:": "ws:",
  "wss:": "wss:",
  "http:": "ws:",
  "https:": "wss:",
};

/** Completes a server's base URL: the scheme becomes that of WebSockets, and the path defaults to `DIAL_OUT_PATH`. */
function serverAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const protocol = url && WEB_SOCKET_PROTOCOLS[url.protocol];
  if (url === undefined || protocol === undefined || url.username !== "" || url.hash !== "") {
    throw new Error(`PARLEY_AGENT_SERVER_URL: must be like wss://parley.example${DIAL_OUT_PATH}`);
  }
  return `${protocol}//${url.host}${url.pathname === "/" ? DIAL_OUT_PATH : url.pathname}${url.search}`;
}
