/** Chooses the account for requests to a git host: the token of the chat's owner for that host. */
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

export type GitAccountDependencies = { database: Database; secrets: SecretBox; hosts: GitHosts; log: Log };

export type AccountChoice =
  | { kind: "account"; account: GitAccount; path: string }
  | { kind: "no-token"; host: string }
  /** The address is not a project on a host that Parley supports. */
  | { kind: "no-host" }
  | { kind: "failed"; failure: GitHostFailure };

/** Rejects when the database fails. */
export async function chooseAccount(
  dependencies: GitAccountDependencies,
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

/** The host's kind, requested once per connection and stored. Null = not a kind that Parley supports. */
export async function kindOf({ hosts, database }: GitAccountDependencies, { id, host, kind }: GitToken) {
  if (kind !== null) return { ok: true as const, value: kind };
  const answer = await hosts.kindOf(host);
  if (answer.ok && answer.value !== null) await rememberGitHostKind(database, id, answer.value);
  return answer;
}

/** Null, and logged, when it is sealed with a key that this server does not have. */
export function openToken({ secrets, log }: GitAccountDependencies, found: GitToken): string | null {
  const opened = openGitToken(secrets, found);
  if (opened.kind === "opened") return opened.text;
  const facts = { connectionId: found.id, failure: opened.kind };
  log.error(facts, "A git connection's token cannot be decrypted with this server's PARLEY_SECRETS_KEYS");
  return null;
}
