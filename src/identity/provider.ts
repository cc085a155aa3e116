/**
 * The identity provider in single steps, by openid-client: where to send a browser, what its code is worth, new tokens
 * for old ones, where to sign out. Nothing is kept here but what the provider tells of itself.
 */
import * as oidc from "openid-client";
import type { Claims } from "../domain/users/identity-claims.js";
import type { IdentityTokens } from "../store/users/identities.js";

/** A provider that takes longer is taken for gone. */
const ANSWER_LIMIT_SECONDS = 10;

export type ProviderSettings = {
  issuer: string;
  clientId: string;
  /** Absent = a public client. */
  clientSecret?: string | undefined;
  scopes: string;
  redirectUri: string;
  now(): number;
};

/** What a browser's way to the provider and back is held together by. */
export type Attempt = { state: string; nonce: string; verifier: string };
export type SignedIn = { issuer: string; subject: string; claims: Claims; tokens: IdentityTokens };

export class IdentityProvider {
  #known: Promise<oidc.Configuration> | null = null;

  constructor(private readonly settings: ProviderSettings) {}

  /** A provider that could not be asked is asked again by the next who comes. */
  #configuration(): Promise<oidc.Configuration> {
    this.#known ??= discover(this.settings).catch((error: unknown) => {
      this.#known = null;
      throw error;
    });
    return this.#known;
  }

  /** Where a browser goes to sign in. Rejects when the provider cannot be asked. */
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

  /** Who has come back. Rejects when the code, the state or anything signed is not good. `query` as in the address. */
  async finish(query: string, { state, nonce, verifier }: Attempt): Promise<SignedIn> {
    const configuration = await this.#configuration();
    const tokens = await oidc.authorizationCodeGrant(
      configuration,
      new URL(`${this.settings.redirectUri}?${query}`),
      { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true },
    );
    const signed = tokens.claims();
    if (!signed) throw new Error("The provider has sent no ID token.");
    // Many providers tell names and groups only here.
    const told = configuration.serverMetadata().userinfo_endpoint
      ? await oidc.fetchUserInfo(configuration, tokens.access_token, signed.sub)
      : {};
    const claims = { ...told, ...signed };
    return { issuer: signed.iss, subject: signed.sub, claims, tokens: this.#kept(tokens) };
  }

  /** New tokens for old ones. Rejects when the provider gives none; `isRefused` tells whether it ever will. */
  async refresh({ refreshToken, idToken }: { refreshToken: string; idToken: string | null }) {
    const fresh = await oidc.refreshTokenGrant(await this.#configuration(), refreshToken);
    const kept = this.#kept(fresh);
    // Providers that do not rotate send neither again.
    return { ...kept, refreshToken: kept.refreshToken ?? refreshToken, idToken: kept.idToken ?? idToken };
  }

  /** Where a browser goes to sign out of the provider too; null when it has no such place. */
  async endSessionUrl(idToken: string | null, returnTo: string): Promise<string | null> {
    const configuration = await this.#configuration();
    if (!configuration.serverMetadata().end_session_endpoint) return null;
    const parameters = new URLSearchParams({ post_logout_redirect_uri: returnTo });
    if (idToken !== null) parameters.set("id_token_hint", idToken);
    return oidc.buildEndSessionUrl(configuration, parameters).href;
  }

  #kept(tokens: oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers): IdentityTokens {
    const seconds = tokens.expiresIn();
    return {
      accessToken: tokens.access_token,
      refreshToken: tokens.refresh_token ?? null,
      idToken: tokens.id_token ?? null,
      expiresAt: seconds === undefined ? null : this.settings.now() + seconds * 1_000,
    };
  }
}

/** The provider has looked at what it was sent and said no, now and for ever. */
export function isRefusal(error: unknown): boolean {
  return error instanceof oidc.ResponseBodyError && error.error === "invalid_grant";
}

/** What a provider says when it, or the person there, does not want to go on; null for any other failure. */
export function refusalText(error: unknown): string | null {
  return error instanceof oidc.AuthorizationResponseError
    ? `${error.error}${error.error_description ? `: ${error.error_description}` : ""}`
    : null;
}

async function discover({ issuer, clientId, clientSecret }: ProviderSettings): Promise<oidc.Configuration> {
  const server = new URL(issuer);
  const found = await oidc.discovery(server, clientId, clientSecret, undefined, {
    timeout: ANSWER_LIMIT_SECONDS,
    // Only who configures such an issuer gets it.
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
