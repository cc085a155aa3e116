/** Users' identities at identity providers, and the providers' tokens, sealed. */
import { randomUUID } from "node:crypto";
import { numberedUsername } from "../../domain/users/user-rules.js";
import type { UserRole } from "../../domain/users/viewer.js";
import type { Queryable, Statement } from "../common/database.js";
import { type Selected, selectionOf } from "../common/entity-columns.js";
import { columnReference, type SecretColumnOf } from "../common/secret-columns.js";
import type { SecretBox } from "../common/secret-box.js";
import { UserIdentityEntity } from "./user-identity.entity.js";
import { createUser, toUser, userColumns, type UserDbRow, type UserRecord } from "./users.js";

/** An account at a provider. */
export type Subject = Pick<UserIdentityEntity, "issuer" | "subject">;
export type KnownIdentity = { identityId: string; user: UserRecord };

const FIND: Statement = {
  name: "identities.find",
  text: `
    SELECT i.id AS "identityId", ${userColumns}
    FROM user_identities i JOIN users u ON u.id = i.user_id WHERE i.issuer = $1 AND i.subject = $2`,
};

/** Null for an account that has never signed in. */
export async function findIdentity(
  db: Queryable,
  { issuer, subject }: Subject,
): Promise<KnownIdentity | null> {
  const [row] = await db.query<UserDbRow & { identityId: string }>(FIND, [issuer, subject]);
  return row ? { identityId: row.identityId, user: toUser(row) } : null;
}

const LOCK: Statement = {
  name: "identities.lock",
  text: "SELECT pg_advisory_xact_lock(hashtextextended($1, 7276009))",
};

/** Until the transaction ends, no other transaction creates this user. */
export async function lockSubject(transaction: Queryable, { issuer, subject }: Subject): Promise<void> {
  await transaction.query(LOCK, [JSON.stringify([issuer, subject])]);
}

const INSERT: Statement = {
  name: "identities.create",
  text: "INSERT INTO user_identities (id, user_id, issuer, subject) VALUES ($1, $2, $3, $4)",
};

/** Far more users than share a name; beyond it something is wrong. */
const MAX_NAMESAKES = 1_000;

/** Creates the user under the requested username, or with a number appended. The subject must be locked. */
export async function createIdentity(
  transaction: Queryable,
  subject: Subject,
  input: { username: string; name: string; role: UserRole },
): Promise<KnownIdentity> {
  for (let count = 1; count <= MAX_NAMESAKES; count += 1) {
    const username = count === 1 ? input.username : numberedUsername(input.username, count);
    const user = await createUser(transaction, { ...input, username });
    if (!user) continue;
    const identityId = randomUUID();
    await transaction.query(INSERT, [identityId, user.id, subject.issuer, subject.subject]);
    return { identityId, user };
  }
  throw new Error(`There are ${MAX_NAMESAKES} users called ${input.username} already.`);
}

const TOKENS = ["accessToken", "refreshToken", "idToken", "expiresAt"] as const;

/** A provider's tokens, unsealed. `expiresAt`: of the access token, in milliseconds since the epoch; null = not known. */
export type IdentityTokens = Pick<UserIdentityEntity, (typeof TOKENS)[number]>;

const STORE: Statement = {
  name: "identities.store-tokens",
  text: `
    UPDATE user_identities SET access_token = $2, refresh_token = $3, id_token = $4, token_expires_at = $5,
      refresh_claim = NULL, refresh_claimed_until = NULL, signed_in_at = now()
    WHERE id = $1`,
};

/** Stores the tokens of a new sign-in, replacing the former ones. */
export async function storeIdentityTokens(
  db: Queryable,
  box: SecretBox,
  { identityId, tokens }: { identityId: string; tokens: IdentityTokens },
): Promise<void> {
  await db.query(STORE, [identityId, ...sealed(box, identityId, tokens)]);
}

function sealed(box: SecretBox, identityId: string, tokens: IdentityTokens) {
  const seal = (column: SecretColumnOf<"user_identities">, text: string | null) =>
    text === null ? null : box.seal(text, columnReference("user_identities", column, identityId));
  return [
    seal("access_token", tokens.accessToken),
    seal("refresh_token", tokens.refreshToken),
    seal("id_token", tokens.idToken),
    tokens.expiresAt === null ? null : new Date(tokens.expiresAt),
  ];
}

const stored = selectionOf(UserIdentityEntity, "", ["id", ...TOKENS]);
type TokenRow = Selected<ReturnType<(typeof stored)["read"]>>;

const OF_USER: Statement = {
  name: "identities.tokens-of-user",
  text: `SELECT ${stored.columns} FROM user_identities WHERE user_id = $1 AND issuer = $2
    ORDER BY signed_in_at DESC LIMIT 1`,
};
const OF_IDENTITY: Statement = {
  name: "identities.tokens",
  text: `SELECT ${stored.columns} FROM user_identities WHERE id = $1`,
};

export type StoredTokens = IdentityTokens & { identityId: string };

/** Tokens of the user's newest sign-in at the provider; null when there was none. A token that cannot be opened is null. */
export async function readTokensOfUser(
  db: Queryable,
  box: SecretBox,
  { userId, issuer }: { userId: string; issuer: string },
): Promise<StoredTokens | null> {
  const [row] = await db.query<TokenRow>(OF_USER, [userId, issuer]);
  return row ? opened(box, row) : null;
}

/** Null when the identity was deleted. */
export async function readTokens(
  db: Queryable,
  box: SecretBox,
  identityId: string,
): Promise<StoredTokens | null> {
  const [row] = await db.query<TokenRow>(OF_IDENTITY, [identityId]);
  return row ? opened(box, row) : null;
}

function opened(box: SecretBox, row: TokenRow): StoredTokens {
  const { id, accessToken, refreshToken, idToken, expiresAt } = stored.read(row);
  const open = (column: SecretColumnOf<"user_identities">, text: string | null) => {
    if (text === null) return null;
    const found = box.open(text, columnReference("user_identities", column, id));
    return found.kind === "opened" ? found.text : null;
  };
  return {
    identityId: id,
    accessToken: open("access_token", accessToken),
    refreshToken: open("refresh_token", refreshToken),
    idToken: open("id_token", idToken),
    expiresAt,
  };
}

/** Longer than a provider takes to answer; a dead replica's claim delays others no longer than this. */
const CLAIM_MS = 15_000;

const CLAIM: Statement = {
  name: "identities.claim-refresh",
  text: `
    UPDATE user_identities
    SET refresh_claim = $2, refresh_claimed_until = now() + ${CLAIM_MS} * interval '1 millisecond'
    WHERE id = $1 AND (refresh_claimed_until IS NULL OR refresh_claimed_until < now())
    RETURNING ${stored.columns}`,
};

/** Claims the renewal and returns the present tokens; null while another claim is valid. */
export async function claimRefresh(
  db: Queryable,
  box: SecretBox,
  { identityId, claim }: { identityId: string; claim: string },
): Promise<StoredTokens | null> {
  const [row] = await db.query<TokenRow>(CLAIM, [identityId, claim]);
  return row ? opened(box, row) : null;
}

const RENEW: Statement = {
  name: "identities.renew-tokens",
  text: `
    UPDATE user_identities SET access_token = $2, refresh_token = $3, id_token = $4, token_expires_at = $5,
      refresh_claim = NULL, refresh_claimed_until = NULL
    WHERE id = $1 AND refresh_claim = $6`,
};

/** Does nothing when the claim was lost to a new sign-in or another renewal. */
export async function renewTokens(
  db: Queryable,
  box: SecretBox,
  { identityId, claim, tokens }: { identityId: string; claim: string; tokens: IdentityTokens },
): Promise<void> {
  await db.query(RENEW, [identityId, ...sealed(box, identityId, tokens), claim]);
}

const RELEASE: Statement = {
  name: "identities.release-refresh",
  text: `UPDATE user_identities SET refresh_claim = NULL, refresh_claimed_until = NULL
    WHERE id = $1 AND refresh_claim = $2`,
};

/** Ends the claim after a failure, so that another renewal may start. */
export async function releaseRefresh(
  db: Queryable,
  { identityId, claim }: { identityId: string; claim: string },
): Promise<void> {
  await db.query(RELEASE, [identityId, claim]);
}
