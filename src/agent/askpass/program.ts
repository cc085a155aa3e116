/**
 * The program that git runs when it needs a user name or a password (`GIT_ASKPASS`). It asks the agent, and says the
 * answer on stdout; without one it says why on stderr and fails, and git goes on by itself. Imports little: git waits.
 */
import { createConnection } from "node:net";
import { askpassVariables } from "../process/environment.js";
import {
  EXCHANGE_TIMEOUT_MS,
  MAX_EXCHANGE_BYTES,
  type AskpassAnswer,
  type AskpassRequest,
} from "./exchange.js";

/** Rejects when the agent is not there, does not answer in time, or not in one line. */
function ask(socketPath: string, request: AskpassRequest): Promise<AskpassAnswer> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(socketPath);
    let text = "";
    socket.setEncoding("utf8").setTimeout(EXCHANGE_TIMEOUT_MS);
    socket.once("timeout", () => socket.destroy(new Error("the workspace agent does not answer")));
    socket.once("error", reject);
    socket.on("data", (piece: string) => {
      text += piece;
      if (text.length > MAX_EXCHANGE_BYTES) socket.destroy(new Error("the workspace agent says too much"));
    });
    socket.once("end", () => {
      try {
        resolve(JSON.parse(text) as AskpassAnswer);
      } catch (error) {
        reject(new Error("the workspace agent hung up", { cause: error }));
      }
    });
    socket.end(`${JSON.stringify(request)}\n`);
  });
}

async function main(socketPath: string | undefined, prompt: string): Promise<number> {
  const { key, gitDirectory } = askpassVariables();
  if (socketPath === undefined) return complain("This is for git, in commands that a workspace agent runs.");
  const where = { directory: process.cwd(), ...(gitDirectory !== undefined && { gitDirectory }) };
  try {
    const said = await ask(socketPath, { prompt, ...where, ...(key !== undefined && { key }) });
    if ("refusal" in said) return complain(said.refusal);
    process.stdout.write(`${said.answer}\n`);
    return 0;
  } catch (error) {
    return complain(`No credentials: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

function complain(words: string): number {
  process.stderr.write(`parley: ${words}\n`);
  return 1;
}

process.exitCode = await main(process.argv[2], process.argv[3] ?? "");
