/** Reads the configuration of a command. Apart from `serve`, whose modules the other commands do without. */
import { ConfigError, loadConfig, type Config, type ConfigSources } from "../config/config.js";

/** Null after the problems were printed. */
export function readConfigOrExplain(sources: ConfigSources): Config | null {
  try {
    return loadConfig(sources);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return null;
  }
}
