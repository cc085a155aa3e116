/** Answers a workspace whose git needs a user name and a password: with the token of the chat's owner, or with why not. */
import { readGitHost } from "../../domain/git/git-host.js";
import type { GitHostKind } from "../../domain/git/git-hosts.js";
import type { Log } from "../../lib/log.js";
import { noteWork } from "./track-branch.js";
import type { TransitionDependencies } from "../../engine/transitions/apply-transition.js";
import { findChatToken, openGitToken } from "../../store/git/git-connections.js";
import type { SecretBox } from "../../store/common/secret-box.js";
import type {
  GitCredentials,
  GitCredentialsRequest,
} from "../../workspaces/agent-client/agent-connection.js";

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

/** What goes before a token; most hosts look at the token alone, and GitLab wants this word with some of its kinds. */
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
 * `workspaceId` is the workspace whose agent asks: a chat that works elsewhere is none of its business, and is refused
 * in the words of a host that is not connected. Marks the chat's diff status stale. Rejects when the database does.
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
  log.info({ chatId, host }, "A chat's git has been given a token");
  return {
    outcome: "given",
    username: usernameOf(host, found),
    password: opened.text,
  };
}

/** GitLab takes any name with a personal token, and only one with those by OAuth. */
function usernameOf(
  host: string,
  { login, hostKind }: { login: string | null; hostKind: GitHostKind | null },
) {
  return hostKind === "gitlab" ? USUAL_USERNAME : (login ?? USERNAMES[host] ?? USUAL_USERNAME);
}

/** A token is given all the same when this fails. */
async function markStale(
  dependencies: GitCredentialsDependencies,
  { chatId, branch = "", remoteOrigin = "" }: GitCredentialsRequest,
): Promise<void> {
  try {
    await noteWork(dependencies, chatId, { branch, remoteOrigin });
  } catch (error) {
    dependencies.log.warn({ err: error, chatId }, "A chat's diff status was not marked as stale");
  }
}

function notConnected(host: string): GitCredentials {
  const reason = `The chat's owner has not connected ${host} to Parley; they can do so with connectGitHost.`;
  return { outcome: "refused", reason };
}
