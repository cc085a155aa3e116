/**
 * The `parley demo-model` command: the demo model as its own process. Prints one line with its address and runs
 * until SIGINT or SIGTERM. For what messages can order it to do see `--help` (markers.ts).
 */
import { parseArgs } from "node:util";
import { MARKER_HELP } from "./markers.js";
import { startDemoModel } from "./server.js";

const DEFAULT_PORT = 4010;
const DEFAULT_HOST = "127.0.0.1";

const HELP = [
  "Usage: parley demo-model [--host HOST] [--port PORT]",
  "",
  "Plays Anthropic (POST /v1/messages), OpenAI (POST /v1/responses, /v1/chat/completions) and Google",
  "(POST /v1beta/models/NAME:streamGenerateContent) without a real model.",
  `  --host HOST   address to listen on (default ${DEFAULT_HOST})`,
  `  --port PORT   port to listen on, 0 for any free one (default ${DEFAULT_PORT})`,
  "",
  ...MARKER_HELP,
].join("\n");

/** Runs until SIGINT or SIGTERM; resolves to the exit code. Invalid flags print the usage and give 2. */
export async function runDemoModel(argv: string[]): Promise<number> {
  const flags = readFlags(argv);
  if (flags === undefined || flags.isHelp) {
    (flags === undefined ? process.stderr : process.stdout).write(`${HELP}\n`);
    return flags === undefined ? 2 : 0;
  }
  let demo;
  try {
    demo = await startDemoModel(flags);
  } catch (error) {
    process.stderr.write(
      `The demo model cannot listen: ${error instanceof Error ? error.message : String(error)}\n`,
    );
    return 1;
  }
  process.stdout.write(`The demo model listens on ${demo.url}\n`);
  await new Promise<void>((resolve) => {
    process.once("SIGINT", () => resolve());
    process.once("SIGTERM", () => resolve());
  });
  await demo.close();
  return 0;
}

function readFlags(argv: string[]): { host: string; port: number; isHelp: boolean } | undefined {
  try {
    const { values } = parseArgs({
      args: argv,
      options: { host: { type: "string" }, port: { type: "string" }, help: { type: "boolean", short: "h" } },
    });
    const port = values.port === undefined ? DEFAULT_PORT : Number(values.port);
    if (!Number.isInteger(port) || port < 0 || port > 65_535) return undefined;
    return { host: values.host ?? DEFAULT_HOST, port, isHelp: values.help ?? false };
  } catch {
    return undefined;
  }
}
