/** How the agent is reached, as its settings say it: it listens, or it calls servers. */
import { z } from "zod";
import { DIAL_OUT_PATH } from "./protocol/dial-out.js";

/** Nobody but this machine may reach an agent unless somebody says otherwise. */
export const DEFAULT_AGENT_HOST = "127.0.0.1";

export type EndpointSettings =
  | {
      kind: "listen";
      host: string;
      /** 0 takes any free one. */
      port: number;
      /** PEM texts; null speaks plain HTTP. */
      tls: { cert: string; key: string } | null;
    }
  /** WebSocket addresses, tried in turn until one takes the call. */
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

/** Throws an `Error` whose message is for whoever made the settings. `readText` reads a file. */
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
      "PARLEY_AGENT_SERVER_URL: an agent that calls a server does not listen; give no host, port or TLS files",
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

/** A server's plain address will do: the path is known. */
function serverAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const protocol = url && WEB_SOCKET_PROTOCOLS[url.protocol];
  if (url === undefined || protocol === undefined || url.username !== "" || url.hash !== "") {
    throw new Error(`PARLEY_AGENT_SERVER_URL: must be like wss://parley.example${DIAL_OUT_PATH}`);
  }
  return `${protocol}//${url.host}${url.pathname === "/" ? DIAL_OUT_PATH : url.pathname}${url.search}`;
}
