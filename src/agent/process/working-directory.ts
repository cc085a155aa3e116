/** Working directory of a command: the requested one, else the first usable of the agent's own, home and root. */
import { access, constants, stat } from "node:fs/promises";
import { absolutePath } from "../files/paths.js";
import { done, errorText, refused, type Outcome } from "../outcome.js";

async function problemWith(directory: string): Promise<{ reason: string; detail?: string } | undefined> {
  try {
    if (!(await stat(directory)).isDirectory()) return { reason: "is not a directory" };
  } catch (error) {
    return { reason: "does not exist or cannot be reached", detail: errorText(error) };
  }
  try {
    await access(directory, constants.X_OK);
    return undefined;
  } catch (error) {
    return { reason: "must not be entered", detail: errorText(error) };
  }
}

/** Checks the requested directory: a spawn in a missing one fails as if the shell were missing. */
export async function chooseWorkingDirectory(choices: {
  wanted: string | undefined;
  agentDirectory: string;
  homeDirectory: string;
}): Promise<Outcome<string>> {
  if (choices.wanted !== undefined) {
    const directory = absolutePath(choices.agentDirectory, choices.wanted);
    const problem = await problemWith(directory);
    if (problem === undefined) return done(directory);
    const message = `The working directory ${directory} ${problem.reason}.`;
    return refused(400, message, { field: "workdir", detail: problem.detail });
  }
  for (const directory of [choices.agentDirectory, choices.homeDirectory]) {
    if ((await problemWith(directory)) === undefined) return done(directory);
  }
  return done("/");
}
