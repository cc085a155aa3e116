/** Git credentials for workspaces: the token of the chat's owner for the host, or the reason why there is none. */
import { readGitHost } from "../../domain/git/git-host.js";
import type { GitHostKind } from "../../domain/git/git-hosts.js";
import type { Log } from "../../lib/log.js";
import { trackBranch } from "./track-branch.js";
import type { TransitionDependencies } from "../../engine/transitions/apply-transition.js";
import { findChatToken, openGitToken } from "../../store/git/git-connections.js";
import type { SecretBox } from "../../store/common/secret-box.js";
import type {
  GitCredentials,
  GitCredentialsRequest,
} from "../../workspaces/agent-client/agent-connection.js";

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

/**
 * User name beside a token; most hosts check the token alone, and GitLab requires this one with some kinds of tokens.
 */
const USUAL_USERNAME = "oauth2";
const USERNAMES: Readonly<Record<string, string>> = {
  "github.com": "x-access-token",
  "bitbucket.org": "x-token-auth",
};

export type GitCredentialsDependencies = TransitionDependencies & {
  secrets: SecretBox;
  log: Log;
};

/**
 * `workspaceId` is the workspace whose agent asks. A chat of another workspace is refused like a host that is not
 * connected. Marks the chat's diff status stale. Rejects when the database fails.
 */
export async function giveGitCredentials(
  dependencies: GitCredentialsDependencies,
  workspaceId: string,
  request: GitCredentialsRequest,
): Promise<GitCredentials> {
  const { database, secrets, log } = dependencies;
  const { chatId } = request;
  const host = readGitHost(request.site);
  if (host === null || !UUID.test(chatId)) return notConnected(request.site);
  const found = await findChatToken(database, { chatId, workspaceId, host });
  if (found.kind === "no-chat") return notConnected(host);
  await markStale(dependencies, request);
  if (found.kind === "not-connected") return notConnected(host);
  const opened = openGitToken(secrets, found);
  if (opened.kind !== "opened") {
    const facts = { connectionId: found.id, failure: opened.kind };
    log.error(facts, "A git connection's token cannot be decrypted with this server's PARLEY_SECRETS_KEYS");
    return { outcome: "refused", reason: `The token for ${host} cannot be read; connect the host again.` };
  }
  log.info({ chatId, host }, "issued git credentials");
  return {
    outcome: "given",
    username: usernameOf(host, found),
    password: opened.text,
  };
}

/** GitLab accepts any name with a personal token, and only this one with an OAuth token. */
function usernameOf(
  host: string,
  { login, hostKind }: { login: string | null; hostKind: GitHostKind | null },
) {
  return hostKind === "gitlab" ? USUAL_USERNAME : (login ?? USERNAMES[host] ?? USUAL_USERNAME);
}

/** A failure is logged and does not withhold the token. */
async function markStale(
  dependencies: GitCredentialsDependencies,
  { chatId, branch = "", remoteOrigin = "" }: GitCredentialsRequest,
): Promise<void> {
  try {
    await trackBranch(dependencies, chatId, { branch, remoteOrigin });
  } catch (error) {
    dependencies.log.warn({ err: error, chatId }, "diff status was not marked as stale");
  }
}

function notConnected(host: string): GitCredentials {
  const reason = `The chat's owner has not connected ${host} to Parley; they can do so with connectGitHost.`;
  return { outcome: "refused", reason };
}
