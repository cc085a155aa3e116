/**
 * A tool server's OAuth in Parley's own words. Plain JSON, so that what discovery found can be kept; nothing of the
 * protocol's library, and nothing of where it is kept.
 */

/** Where a server's authorisations are got. URLs are whole; a list is empty where the server told nothing. */
export type AuthorizationServer = {
  /** Who it says that it is (RFC 8414); null = it tells nothing of itself. */
  issuer: string | null;
  authorizationEndpoint: string;
  tokenEndpoint: string;
  /** RFC 7591; null = clients cannot register themselves. */
  registrationEndpoint: string | null;
  /** RFC 7009; null = tokens cannot be revoked. */
  revocationEndpoint: string | null;
  tokenAuthMethods: string[];
  revocationAuthMethods: string[];
  /** PKCE; null = without metadata nobody knows. */
  challengeMethods: string[] | null;
  scopes: string[];
  /** Every answer to a browser names the issuer (RFC 9207). */
  announcesIssuer: boolean;
  /** It takes the address of a client's own description as the client's id. */
  takesClientDocuments: boolean;
  /** RFC 8707: what the tokens are to be for; null = the server describes no resource. */
  resource: string | null;
  /** What the resource says that its clients need. */
  resourceScopes: string[];
};

/** Who Parley is to an authorisation server. */
export type OauthClient = {
  id: string;
  /** Null = a public client. */
  secret: string | null;
  /** How it shows its secret, when that was agreed on: `none`, `client_secret_basic`, `client_secret_post`. */
  authMethod: string | null;
  /** Milliseconds since the epoch; null = the secret does not expire. */
  secretExpiresAt: number | null;
};

export type OauthTokens = {
  accessToken: string;
  /** As it goes before the token in a header: `Bearer` for every spelling of it, others as the server wrote them. */
  tokenType: string;
  /** Null = there is none, and with the access token the authorisation ends. */
  refreshToken: string | null;
  /** Null = those that were asked for. */
  scopes: string[] | null;
  /** From now on; null = the server did not say. */
  expiresInSeconds: number | null;
};

/** What a server's 401 says of how to be let in. */
export type OauthChallenge = { resourceMetadataUrl: string | null; scope: string | null };

export type OauthFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * `unreachable`: no answer, or none in time. `metadata`: what the server tells of itself cannot be used. `refused`: the
 * authorisation server said no, with `code` of RFC 6749 or 7591 where it gave one. `answer`: an answer that cannot be
 * read. `issuer`: the answer is another server's.
 */
export type OauthFailureKind = "unreachable" | "metadata" | "refused" | "answer" | "issuer";

/** The message is for people and shows no secret. */
export class OauthFailure extends Error {
  override readonly name = "OauthFailure";

  constructor(
    readonly kind: OauthFailureKind,
    message: string,
    options?: ErrorOptions & { code?: string },
  ) {
    super(message, options);
    this.code = options?.code ?? null;
  }

  /** For example `invalid_grant`; null when the server gave none. */
  readonly code: string | null;
}
