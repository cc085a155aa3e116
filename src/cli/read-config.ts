/** Reads the configuration of a command. Apart from `serve`, whose modules the other commands do without. */
import { ConfigError, loadConfig, type Config } from "../config/config.js";

/** Null after the problems were printed. */
export function readConfigOrExplain(): Config | null {
  try {
    return loadConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return null;
  }
}
