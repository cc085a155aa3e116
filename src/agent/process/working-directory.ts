/** Where a command runs: the wanted directory, else the agent's own while it exists, else the home directory. */
import { stat } from "node:fs/promises";
import { absolutePath } from "../files/paths.js";
import { done, errorText, refused, type Outcome } from "../outcome.js";

async function problemWith(directory: string): Promise<{ reason: string; detail?: string } | undefined> {
  try {
    return (await stat(directory)).isDirectory() ? undefined : { reason: "is not a directory" };
  } catch (error) {
    return { reason: "does not exist or cannot be reached", detail: errorText(error) };
  }
}

/** A wanted directory is checked, because a spawn that fails on it looks as if the shell were missing. */
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
  const isUsable = (await problemWith(choices.agentDirectory)) === undefined;
  return done(isUsable ? choices.agentDirectory : choices.homeDirectory);
}
