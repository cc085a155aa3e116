/** Which branch of which origin a command works on, as git itself says. */
import { resolve } from "node:path";
import { redactOrigin } from "../git/remote-origin.js";
import type { RunGit } from "../git/run-git.js";

/** Longer names are of no use to whoever looks for their pull request; the protocol's own bounds are above these. */
const MAX_BRANCH_CHARACTERS = 512;
const MAX_ORIGIN_CHARACTERS = 2_048;
/** In UTF-8, with the newline. */
const MAX_ANSWER_BYTES = 8 * 1024;

export type GitContext = { branch?: string; remoteOrigin?: string };

/**
 * `directory` is where git asked, `gitDirectory` what it has in `GIT_DIR`, if anything. What cannot be said is absent:
 * a branch without commits, a detached head, an origin that is not set. Rejects only with the reason of `signal`.
 */
export async function readGitContext(
  runGit: RunGit,
  where: { directory: string; gitDirectory: string | undefined },
  signal: AbortSignal,
): Promise<GitContext> {
  const { directory, gitDirectory } = where;
  const which = gitDirectory ? [`--git-dir=${resolve(directory, gitDirectory)}`] : [];
  const ask = async (...words: string[]) => {
    const outcome = await runGit(
      { directory, arguments: [...which, ...words], maxBytes: MAX_ANSWER_BYTES },
      signal,
    );
    if (outcome.kind !== "ended" || outcome.exitCode !== 0) return "";
    return outcome.output.toString("utf8").replace(/\n$/, "");
  };
  const [branch, origin] = await Promise.all([
    ask("rev-parse", "--abbrev-ref", "HEAD"),
    ask("config", "--get", "remote.origin.url"),
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
