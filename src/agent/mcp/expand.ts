/** Expands variables of the agent's environment in the configuration of an MCP server. Pure. */
import type { Environment } from "../process/environment.js";

const BRACED = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;
const BRACED_OR_BARE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}|\$([A-Za-z_]\w*)/g;

/** Expands `${NAME}`, and `${NAME:-default}` for unset or empty variables. Unset ones become empty. */
export function expandBraced(text: string, environment: Environment): string {
  return text.replace(BRACED, (_, name: string, fallback: string | undefined) =>
    valueOf(environment, name, fallback),
  );
}

/** As `expandBraced`, and also `$NAME`: `env` entries are written as in a shell. */
export function expandVariables(text: string, environment: Environment): string {
  return text.replace(
    BRACED_OR_BARE,
    (_, braced: string | undefined, fallback: string | undefined, bare: string | undefined) =>
      valueOf(environment, braced ?? bare ?? "", fallback),
  );
}

function valueOf(environment: Environment, name: string, fallback = ""): string {
  const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
  return value === undefined || value === "" ? fallback : value;
}
