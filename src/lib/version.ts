/** The version of this installation, from its package.json. */
import { readFileSync } from "node:fs";

/** Relative to the sources, and to the build, which is at the same depth below `dist`. */
const PATHS = ["../../package.json", "../../../package.json"];

export const VERSION = readVersion();

function readVersion(): string {
  for (const path of PATHS) {
    try {
      const content: unknown = JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
      return String(Reflect.get(Object(content), "version"));
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    }
  }
  throw new Error("package.json was not found beside the program.");
}
