/**
 * Types of OAuth with MCP servers, independent of the protocol's library. Plain JSON, so that what discovery found can be
 * stored.
 */

/** What is known of an authorisation server. URLs are absolute; lists are empty when its metadata have none. */
export type AuthorizationServer = {
  /** RFC 8414; null = it publishes no metadata. */
  issuer: string | null;
  authorizationEndpoint: string;
  tokenEndpoint: string;
  /** RFC 7591; null = clients cannot register themselves. */
  registrationEndpoint: string | null;
  /** RFC 7009; null = tokens cannot be revoked. */
  revocationEndpoint: string | null;
  tokenAuthMethods: string[];
  revocationAuthMethods: string[];
  /** PKCE methods; null = unknown, without metadata. */
  challengeMethods: string[] | null;
  scopes: string[];
  /** Every authorisation response names the issuer (RFC 9207). */
  announcesIssuer: boolean;
  /** Accepts the URL of a client metadata document as the client's id. */
  takesClientDocuments: boolean;
  /** RFC 8707: the tokens' resource; null = the server has no protected resource metadata. */
  resource: string | null;
  /** Scopes that the resource's metadata name. */
  resourceScopes: string[];
};

/** Parley's client at an authorisation server. */
export type OauthClient = {
  id: string;
  /** Null = a public client. */
  secret: string | null;
  /** Agreed at registration: `none`, `client_secret_basic` or `client_secret_post`; null = not agreed. */
  authMethod: string | null;
  /** Milliseconds since the epoch; null = the secret does not expire. */
  secretExpiresAt: number | null;
};

export type OauthTokens = {
  accessToken: string;
  /** The scheme for the header: `Bearer` for every spelling of it, others as the server wrote them. */
  tokenType: string;
  /** Null = none: the authorisation ends with the access token. */
  refreshToken: string | null;
  /** Null = as requested. */
  scopes: string[] | null;
  /** From now; null = unknown. */
  expiresInSeconds: number | null;
};

/** What a server's 401 says about authorisation. */
export type OauthChallenge = { resourceMetadataUrl: string | null; scope: string | null };

export type OauthFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * `unreachable`: no response, or none in time. `metadata`: the server's metadata cannot be used. `refused`: by the
 * authorisation server, with its `code` of RFC 6749 or 7591, if any. `answer`: an invalid response. `issuer`: the response
 * is from another server.
 */
export type OauthFailureKind = "unreachable" | "metadata" | "refused" | "answer" | "issuer";

/** The message is for users and contains no secrets. */
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

  /** For example `invalid_grant`; null when the server sent none. */
  readonly code: string | null;
}
