/** The branch and origin that a command works on, as git reports them. */
import { resolve } from "node:path";
import { redactOrigin } from "../git/remote-origin.js";
import type { RunGit } from "../git/run-git.js";

/** Longer names are useless for finding a pull request; the protocol's own limits are above these. */
const MAX_BRANCH_CHARACTERS = 512;
const MAX_ORIGIN_CHARACTERS = 2_048;
/** In UTF-8, with the newline. */
const MAX_ANSWER_BYTES = 8 * 1024;

export type GitContext = { branch?: string; remoteOrigin?: string };

/**
 * `directory` is git's working directory, `gitDirectory` its `GIT_DIR`, if set. Absent fields: a branch without
 * commits, a detached HEAD, an origin that is not set. Rejects only with the reason of `signal`.
 */
export async function readGitContext(
  runGit: RunGit,
  where: { directory: string; gitDirectory: string | undefined },
  signal: AbortSignal,
): Promise<GitContext> {
  const { directory, gitDirectory } = where;
  const repository = gitDirectory ? [`--git-dir=${resolve(directory, gitDirectory)}`] : [];
  const run = async (...args: string[]) => {
    const outcome = await runGit(
      { directory, arguments: [...repository, ...args], maxBytes: MAX_ANSWER_BYTES },
      signal,
    );
    if (outcome.kind !== "ended" || outcome.exitCode !== 0) return "";
    return outcome.output.toString("utf8").replace(/\n$/, "");
  };
  const [branch, origin] = await Promise.all([
    run("rev-parse", "--abbrev-ref", "HEAD"),
    run("config", "--get", "remote.origin.url"),
  ]);
  const remoteOrigin = redactOrigin(origin);
  return {
    ...(isName(branch, MAX_BRANCH_CHARACTERS) && branch !== "HEAD" && { branch }),
    ...(isName(remoteOrigin, MAX_ORIGIN_CHARACTERS) && { remoteOrigin }),
  };
}

function isName(text: string, maxCharacters: number): boolean {
  return text !== "" && text.length <= maxCharacters && !text.includes("\u0000");
}
