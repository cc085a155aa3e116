/** In whose name a host is asked: with the token that a chat's owner has given for it. */
import type { GitAccount, GitHostFailure, GitHosts } from "../../domain/git/git-hosts.js";
import { readGitOrigin } from "../../domain/git/git-origin.js";
import type { Log } from "../../lib/log.js";
import type { Database } from "../../store/common/database.js";
import {
  findGitToken,
  type GitToken,
  openGitToken,
  rememberGitHostKind,
} from "../../store/git/git-connections.js";
import type { SecretBox } from "../../store/common/secret-box.js";

export type OauthAccountDependencies = { database: Database; secrets: SecretBox; hosts: GitHosts; log: Log };

export type AccountChoice =
  | { kind: "account"; account: GitAccount; path: string }
  | { kind: "no-token"; host: string }
  /** The address is none of a project at a host, or at one that Parley cannot ask. */
  | { kind: "no-host" }
  | { kind: "failed"; failure: GitHostFailure };

/** Rejects when the database does. */
export async function chooseAccount(
  dependencies: OauthAccountDependencies,
  { ownerId, remoteOrigin }: { ownerId: string; remoteOrigin: string },
): Promise<AccountChoice> {
  const origin = readGitOrigin(remoteOrigin);
  if (origin === null) return { kind: "no-host" };
  const found = await findGitToken(dependencies.database, ownerId, origin.host);
  const token = found && openToken(dependencies, found);
  if (!found || token === null) return { kind: "no-token", host: origin.host };
  const kind = await kindOf(dependencies, found);
  if (!kind.ok) return { kind: "failed", failure: kind.failure };
  if (kind.value === null) return { kind: "no-host" };
  return { kind: "account", account: { host: origin.host, kind: kind.value, token }, path: origin.path };
}

/** Asked once for each connection, and remembered. Null: the host is none that Parley knows. */
export async function kindOf({ hosts, database }: OauthAccountDependencies, { id, host, kind }: GitToken) {
  if (kind !== null) return { ok: true as const, value: kind };
  const answer = await hosts.kindOf(host);
  if (answer.ok && answer.value !== null) await rememberGitHostKind(database, id, answer.value);
  return answer;
}

/** Null when it is sealed with a key that this server does not have. */
export function openToken({ secrets, log }: OauthAccountDependencies, found: GitToken): string | null {
  const opened = openGitToken(secrets, found);
  if (opened.kind === "opened") return opened.text;
  const facts = { connectionId: found.id, failure: opened.kind };
  log.error(facts, "A git connection's token cannot be decrypted with this server's PARLEY_SECRETS_KEYS");
  return null;
}
