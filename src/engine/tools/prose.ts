/** Loads a tool's prose for the model: the `.md` file beside the tool's own file, read once at start. */
import { readFileSync } from "node:fs";

/** `moduleUrl` is the tool's `import.meta.url`. Throws when the prose is missing: the build is broken then. */
export function readDescription(moduleUrl: string): string {
  return readFileSync(new URL(moduleUrl.replace(/\.[jt]s(?:\?.*)?$/, ".md")), "utf8").trim();
}
