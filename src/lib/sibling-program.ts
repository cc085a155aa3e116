/** Finds the other programs of this installation: the agent, git's askpass, the search thread. */
import { fileURLToPath } from "node:url";

/** Where the bundles are, relative to the running one; defined by the build (scripts/bundle.mjs). */
declare const PARLEY_PROGRAMS: string | undefined;

export type SiblingProgram = {
  file: string;
  /** What Node needs besides to run it; empty for a bundle. */
  nodeArguments: string[];
};

/**
 * The bundle `name` beside the running one; from source, the module `source` relative to the asking module.
 * `moduleUrl` is the asking module's `import.meta.url`.
 */
export function siblingProgram(name: string, source: string, moduleUrl: string): SiblingProgram {
  if (typeof PARLEY_PROGRAMS !== "undefined") {
    return { file: fileURLToPath(new URL(`${PARLEY_PROGRAMS}${name}.js`, moduleUrl)), nodeArguments: [] };
  }
  const nodeArguments = ["--import", import.meta.resolve("@oxc-node/core/register")];
  return { file: fileURLToPath(new URL(`${source}.ts`, moduleUrl)), nodeArguments };
}
