/**
 * Client of the identity provider (OpenID Connect), by openid-client: sign-in, code exchange, token refresh, sign-out.
 * Stateless but for the provider's cached metadata.
 */
import * as oidc from "openid-client";
import type { Claims } from "../domain/users/identity-claims.js";
import type { IdentityTokens } from "../store/users/identities.js";

/** A provider that takes longer counts as unavailable. */
const ANSWER_LIMIT_SECONDS = 10;

export type ProviderSettings = {
  issuer: string;
  clientId: string;
  /** Absent for a public client. */
  clientSecret?: string | undefined;
  scopes: string;
  redirectUri: string;
  now(): number;
};

/** What binds the provider's callback to the sign-in that it answers. */
export type Attempt = { state: string; nonce: string; verifier: string };
export type SignedIn = { issuer: string; subject: string; claims: Claims; tokens: IdentityTokens };

export class IdentityProvider {
  #known: Promise<oidc.Configuration> | null = null;

  constructor(private readonly settings: ProviderSettings) {}

  /** Cached once discovered; a failure is retried by the next caller. */
  #configuration(): Promise<oidc.Configuration> {
    this.#known ??= discover(this.settings).catch((error: unknown) => {
      this.#known = null;
      throw error;
    });
    return this.#known;
  }

  /** The address at which a browser signs in. Rejects when the provider cannot be reached. */
  async begin(): Promise<{ url: string; attempt: Attempt }> {
    const configuration = await this.#configuration();
    const verifier = oidc.randomPKCECodeVerifier();
    const attempt = { state: oidc.randomState(), nonce: oidc.randomNonce(), verifier };
    const url = oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: this.settings.redirectUri,
      scope: this.settings.scopes,
      state: attempt.state,
      nonce: attempt.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      // Without it some providers give no refresh token.
      ...(this.settings.scopes.split(" ").includes("offline_access") && { prompt: "consent" }),
    });
    return { url: url.href, attempt };
  }

  /** Completes a sign-in. Rejects when the code, the state or a signature is invalid. `query`: as in the callback's URL. */
  async finish(query: string, { state, nonce, verifier }: Attempt): Promise<SignedIn> {
    const configuration = await this.#configuration();
    const tokens = await oidc.authorizationCodeGrant(
      configuration,
      new URL(`${this.settings.redirectUri}?${query}`),
      { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true },
    );
    const signed = tokens.claims();
    if (!signed) throw new Error("The provider has sent no ID token.");
    // Many providers return names and groups only here.
    const userInfo = configuration.serverMetadata().userinfo_endpoint
      ? await oidc.fetchUserInfo(configuration, tokens.access_token, signed.sub)
      : {};
    const claims = { ...userInfo, ...signed };
    return { issuer: signed.iss, subject: signed.sub, claims, tokens: this.#tokensOf(tokens) };
  }

  /** Exchanges a refresh token. Rejects when the provider refuses or fails; `isRefusal` tells which. */
  async refresh({ refreshToken, idToken }: { refreshToken: string; idToken: string | null }) {
    const tokens = this.#tokensOf(await oidc.refreshTokenGrant(await this.#configuration(), refreshToken));
    // Providers that do not rotate send neither again.
    return {
      ...tokens,
      refreshToken: tokens.refreshToken ?? refreshToken,
      idToken: tokens.idToken ?? idToken,
    };
  }

  /** The address at which a browser signs out of the provider too; null when it has none. */
  async endSessionUrl(idToken: string | null, returnTo: string): Promise<string | null> {
    const configuration = await this.#configuration();
    if (!configuration.serverMetadata().end_session_endpoint) return null;
    const parameters = new URLSearchParams({ post_logout_redirect_uri: returnTo });
    if (idToken !== null) parameters.set("id_token_hint", idToken);
    return oidc.buildEndSessionUrl(configuration, parameters).href;
  }

  #tokensOf(tokens: oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers): IdentityTokens {
    const seconds = tokens.expiresIn();
    return {
      accessToken: tokens.access_token,
      refreshToken: tokens.refresh_token ?? null,
      idToken: tokens.id_token ?? null,
      expiresAt: seconds === undefined ? null : this.settings.now() + seconds * 1_000,
    };
  }
}

/** Whether the provider refused the grant permanently. */
export function isRefusal(error: unknown): boolean {
  return error instanceof oidc.ResponseBodyError && error.error === "invalid_grant";
}

/** The provider's words when it, or the user there, denied the sign-in; null for any other failure. */
export function refusalText(error: unknown): string | null {
  return error instanceof oidc.AuthorizationResponseError
    ? `${error.error}${error.error_description ? `: ${error.error_description}` : ""}`
    : null;
}

async function discover({ issuer, clientId, clientSecret }: ProviderSettings): Promise<oidc.Configuration> {
  const server = new URL(issuer);
  const found = await oidc.discovery(server, clientId, clientSecret, undefined, {
    timeout: ANSWER_LIMIT_SECONDS,
    // Only for an issuer that is configured without TLS.
    ...(server.protocol === "http:" && { execute: [oidc.allowInsecureRequests] }),
  });
  const metadata = found.serverMetadata();
  const methods = metadata.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  const asBasic = methods.includes("client_secret_basic");
  const authentication =
    clientSecret === undefined
      ? oidc.None()
      : asBasic
        ? oidc.ClientSecretBasic(clientSecret)
        : oidc.ClientSecretPost(clientSecret);
  const configuration = new oidc.Configuration(metadata, clientId, clientSecret, authentication);
  configuration.timeout = ANSWER_LIMIT_SECONDS;
  if (server.protocol === "http:") oidc.allowInsecureRequests(configuration);
  return configuration;
}
