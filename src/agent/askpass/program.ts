/**
 * The program that git runs when it needs a user name or a password (`GIT_ASKPASS`). Asks the agent and prints the
 * answer on stdout; on failure it prints the reason on stderr and exits with 1, and git goes on without an answer.
 * Imports little, as git waits for it.
 */
import { createConnection } from "node:net";
import { askpassVariables } from "../process/environment.js";
import {
  EXCHANGE_TIMEOUT_MS,
  MAX_EXCHANGE_BYTES,
  type AskpassAnswer,
  type AskpassRequest,
} from "./exchange.js";

/** Rejects when the agent is not there, does not answer in time, or answers with invalid JSON. */
function ask(socketPath: string, request: AskpassRequest): Promise<AskpassAnswer> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(socketPath);
    let text = "";
    socket.setEncoding("utf8").setTimeout(EXCHANGE_TIMEOUT_MS);
    socket.once("timeout", () => socket.destroy(new Error("the workspace agent does not answer")));
    socket.once("error", reject);
    socket.on("data", (chunk: string) => {
      text += chunk;
      if (text.length > MAX_EXCHANGE_BYTES)
        socket.destroy(new Error("the workspace agent's answer is too long"));
    });
    socket.once("end", () => {
      try {
        resolve(JSON.parse(text) as AskpassAnswer);
      } catch (error) {
        reject(new Error("the workspace agent closed the connection", { cause: error }));
      }
    });
    socket.end(`${JSON.stringify(request)}\n`);
  });
}

async function main(socketPath: string | undefined, prompt: string): Promise<number> {
  const { key, gitDirectory } = askpassVariables();
  if (socketPath === undefined) return fail("This is for git, in commands that a workspace agent runs.");
  const where = { directory: process.cwd(), ...(gitDirectory !== undefined && { gitDirectory }) };
  try {
    const response = await ask(socketPath, { prompt, ...where, ...(key !== undefined && { key }) });
    if ("refusal" in response) return fail(response.refusal);
    process.stdout.write(`${response.answer}\n`);
    return 0;
  } catch (error) {
    return fail(`No credentials: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

function fail(message: string): number {
  process.stderr.write(`parley: ${message}\n`);
  return 1;
}

process.exitCode = await main(process.argv[2], process.argv[3] ?? "");
