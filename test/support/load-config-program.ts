// A program for tests: prints some of the configuration that its folder and environment give, or why there is none.
import { loadConfig } from "../../src/config/config.js";

const envFile = process.argv[2];
try {
  const { port, host, model, dataDir, warnings } = loadConfig(envFile === undefined ? {} : { envFile });
  process.stdout.write(JSON.stringify({ port, host, model, dataDir, warnings }));
} catch (failure) {
  if (!(failure instanceof Error)) throw failure;
  process.stdout.write(JSON.stringify({ name: failure.name, message: failure.message }));
}
