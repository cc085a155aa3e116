/** The version of this installation, from its package.json. */
import { readFileSync } from "node:fs";
import { z } from "zod";

/** Found from the sources and from the build alike: both lie at the same depth below the package or its `dist`. */
const PLACES = ["../../package.json", "../../../package.json"];

export const VERSION = readVersion();

function readVersion(): string {
  for (const place of PLACES) {
    try {
      return z
        .object({ version: z.string() })
        .parse(JSON.parse(readFileSync(new URL(place, import.meta.url), "utf8"))).version;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    }
  }
  throw new Error("package.json was not found beside the program.");
}
