/** Opens an address in the user's browser, with the program that the system has for it. */
import { processEnvironment } from "../config/config.js";
import { allowedEnvironment } from "../lib/allowed-environment.js";
import { startProgram } from "../lib/child-process.js";
import type { Log } from "../lib/log.js";

/** What a browser needs to find the user's desktop, beside what every program inherits. */
const DESKTOP = ["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_*", "DBUS_SESSION_BUS_ADDRESS", "BROWSER"];

/** Resolves when the program has started; a failure is logged, as the address was printed. */
export async function openBrowser(url: string, log: Log): Promise<void> {
  const program = process.platform === "darwin" ? "open" : "xdg-open";
  const env = allowedEnvironment(processEnvironment(), DESKTOP);
  const child = startProgram(program, [url], { env, stdio: "ignore", detached: true });
  await new Promise<void>((resolve) => {
    child.once("spawn", resolve);
    child.once("error", (error) => {
      log.warn({ err: error }, `the browser could not be opened: ${program} is missing`);
      resolve();
    });
  });
  child.unref();
}
