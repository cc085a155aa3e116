/** Puts variables of the agent's environment into the settings of a tool server. Pure. */
import type { Environment } from "../process/environment.js";

const BRACED = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;
const BRACED_OR_BARE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}|\$([A-Za-z_]\w*)/g;

/** `${NAME}` becomes the variable's value, `${NAME:-text}` the text where it is unset or empty; unset ones are empty. */
export function expandBraced(text: string, environment: Environment): string {
  return text.replace(BRACED, (_, name: string, fallback: string | undefined) =>
    valueOf(environment, name, fallback),
  );
}

/** As `expandBraced`, and `$NAME` too: what stands in an `env` entry is written as in a shell. */
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
