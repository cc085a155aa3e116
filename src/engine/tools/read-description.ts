/** Loads a tool's description for the model from the `.md` file beside the tool's own file, once at start. */
import { readFileSync } from "node:fs";

/** `moduleUrl` is the tool's `import.meta.url`. Throws when the file is missing: the build is broken then. */
export function readDescription(moduleUrl: string): string {
  return readFileSync(new URL(moduleUrl.replace(/\.[jt]s(?:\?.*)?$/, ".md")), "utf8").trim();
}
