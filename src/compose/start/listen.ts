/** Opening of the HTTP server's port; what prevents it is explained with the variable to change. */
import type { Config } from "../../config/config.js";
import { errorText } from "../../lib/text/error-text.js";
import { ExplainedError } from "../../lib/text/explained-error.js";
import { createHttpServer, type HttpServerOptions, type ParleyHttp } from "../../http/server.js";

type Address = Pick<Config, "host" | "port" | "isPortChosen">;

/** Rejects with an `ExplainedError` when the address cannot be listened on. */
export async function listenOrExplain(config: Address, options: HttpServerOptions): Promise<ParleyHttp> {
  try {
    return await createHttpServer(options);
  } catch (error) {
    const explained = explainListening(config, error);
    throw explained === null ? error : new ExplainedError(explained, { cause: error });
  }
}

/** Null for an error that has nothing to do with the address. */
export function explainListening({ host, port, isPortChosen }: Address, error: unknown): string | null {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  switch (code) {
    case "EADDRINUSE":
      return isPortChosen
        ? `PARLEY_PORT is ${port}, but another program listens on that port of ${host}. Choose another port, or end that program.`
        : `Another program listens on port ${port} of ${host}. Choose another one with PARLEY_PORT, or end that program.`;
    case "EACCES":
      return `PARLEY_PORT is ${port}, but this user may not listen on that port of ${host}. Choose one above 1023.`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `PARLEY_HOST is ${host}, which is not an address of this machine: ${errorText(error)}.`;
    default:
      return null;
  }
}
