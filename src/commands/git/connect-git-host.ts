/**
 * Stores the viewer's token for a git host, used by git in their chats. Replaces an earlier token for the same host.
 */
import { readGitHost } from "../../domain/git/git-host.js";
import type { Viewer } from "../../domain/users/viewer.js";
import { pollAgainWithToken } from "../../store/git/diff-statuses.js";
import {
  connectGitHost as saveGitConnection,
  MAX_GIT_CONNECTIONS,
  type GitConnectionRecord,
} from "../../store/git/git-connections.js";
import type { CommandResult } from "../common/command-result.js";
import { refuse, type CommandDependencies } from "../common/command-dependencies.js";

/** Most have fewer than a hundred characters; signed tokens have two or three thousand. */
const MAX_GIT_TOKEN_CHARACTERS = 4_096;
/** Characters that need no escaping in a header or in git's credential protocol. */
const TOKEN = /^[\x21-\x7e]+$/;

export async function connectGitHost(
  dependencies: CommandDependencies,
  viewer: Viewer,
  input: { host: string; token: string },
): Promise<CommandResult<{ connection: GitConnectionRecord }>> {
  const host = readGitHost(input.host);
  if (host === null) {
    const message = "A host is written like github.com or git.example:8443, without a path or a user.";
    return refuse({ code: "INVALID", message, path: ["host"] });
  }
  const token = input.token.trim();
  const problem = problemOf(token);
  if (problem !== null) return refuse({ code: "INVALID", message: problem, path: ["token"] });
  const wanted = { userId: viewer.userId, host, token };
  const connection = await saveGitConnection(dependencies.database, dependencies.secrets, wanted);
  if (connection !== null) {
    await pollAgainWithToken(dependencies.database, viewer.userId);
    return { ok: true, connection };
  }
  const message = `At most ${MAX_GIT_CONNECTIONS} hosts can be connected. Disconnect one first.`;
  return refuse({ code: "LIMIT_EXCEEDED", message });
}

/** A message that does not repeat the token; null when it is valid. */
function problemOf(token: string): string | null {
  if (token === "") return "The token is blank.";
  if (token.length > MAX_GIT_TOKEN_CHARACTERS) {
    return `A token has at most ${MAX_GIT_TOKEN_CHARACTERS} characters.`;
  }
  return TOKEN.test(token) ? null : "A token has only visible ASCII characters and no spaces.";
}
