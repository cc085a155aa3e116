/** Opens an address in the user's browser, with the program that the system has for it. */
import { spawn } from "node:child_process";
import type { Log } from "../lib/log.js";

/** Resolves when the program has started; a failure is logged, as the address was printed. */
export async function openBrowser(url: string, log: Log): Promise<void> {
  const program = process.platform === "darwin" ? "open" : "xdg-open";
  const child = spawn(program, [url], { stdio: "ignore", detached: true });
  await new Promise<void>((resolve) => {
    child.once("spawn", resolve);
    child.once("error", (error) => {
      log.warn({ err: error }, `the browser could not be opened: ${program} is missing`);
      resolve();
    });
  });
  child.unref();
}
