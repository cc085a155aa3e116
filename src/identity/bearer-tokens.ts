/** Authentication by JWTs of the identity provider: signed by it, for this deployment's audience, and not expired. */
import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from "jose";
import * as oidc from "openid-client";
import { signInProblem } from "../domain/users/identity-claims.js";
import { roleWithin, TOKEN_SCOPES, type Viewer } from "../domain/users/viewer.js";
import { authenticate, type AuthenticateDependencies } from "./authenticate.js";

/** Asymmetric signatures only: never a shared secret, never none. */
const ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];
/** Tolerated difference between the provider's clock and ours. */
const CLOCK_SKEW_SECONDS = 30;
const ANSWER_LIMIT_MS = 10_000;
const FORM = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

export type BearerDependencies = AuthenticateDependencies & {
  issuer: string;
  audience: string;
  now(): number;
};

/** Whether the text has the form of a JWT, which API tokens never have. */
export function isBearerToken(text: string): boolean {
  return FORM.test(text);
}

export class BearerTokens {
  #keys: Promise<JWTVerifyGetKey> | null = null;

  constructor(private readonly dependencies: BearerDependencies) {}

  /** Null when the token is invalid; rejects when the provider's keys cannot be fetched. */
  async authenticate(token: string): Promise<Viewer | null> {
    const payload = await this.#verify(token);
    if (!payload?.sub || !payload.iss || signInProblem(payload, this.dependencies.rules) !== null)
      return null;
    const subject = { issuer: payload.iss, subject: payload.sub };
    const { user } = await authenticate(this.dependencies, subject, payload);
    if (!user.isActive) return null;
    const { id: userId, username, name, role } = user;
    const credential = { kind: "jwt" as const, scopes: TOKEN_SCOPES };
    const expiresAt = ((payload.exp ?? 0) + CLOCK_SKEW_SECONDS) * 1_000;
    return { userId, username, name, role: roleWithin(role, TOKEN_SCOPES), expiresAt, credential };
  }

  async #verify(token: string): Promise<JWTPayload | null> {
    const { issuer, audience, now, log } = this.dependencies;
    try {
      const { payload } = await jwtVerify(token, await this.#keySet(), {
        ...{ issuer, audience, algorithms: ALGORITHMS },
        ...{ clockTolerance: CLOCK_SKEW_SECONDS, currentDate: new Date(now()) },
        requiredClaims: ["exp", "sub"],
      });
      return payload;
    } catch (error) {
      if (!isInvalidToken(error)) throw error;
      log.debug({ err: error }, "bearer token refused");
      return null;
    }
  }

  /** Cached once fetched; a failure is retried by the next caller. */
  #keySet(): Promise<JWTVerifyGetKey> {
    this.#keys ??= this.#findKeys().catch((error: unknown) => {
      this.#keys = null;
      throw error;
    });
    return this.#keys;
  }

  async #findKeys(): Promise<JWTVerifyGetKey> {
    const server = new URL(this.dependencies.issuer);
    // Discovery requires a client id but does not use it.
    const found = await oidc.discovery(server, "parley", undefined, undefined, {
      timeout: ANSWER_LIMIT_MS / 1_000,
      ...(server.protocol === "http:" && { execute: [oidc.allowInsecureRequests] }),
    });
    const address = found.serverMetadata().jwks_uri;
    if (address === undefined) throw new Error(`${this.dependencies.issuer} publishes no keys (jwks_uri).`);
    return createRemoteJWKSet(new URL(address), { timeoutDuration: ANSWER_LIMIT_MS });
  }
}

/** Whether the token is invalid, as opposed to a failure to fetch the provider's keys. */
function isInvalidToken(error: unknown): boolean {
  return (
    error instanceof errors.JWTClaimValidationFailed ||
    error instanceof errors.JWTExpired ||
    error instanceof errors.JWTInvalid ||
    error instanceof errors.JWSInvalid ||
    error instanceof errors.JWSSignatureVerificationFailed ||
    error instanceof errors.JOSEAlgNotAllowed ||
    error instanceof errors.JOSENotSupported ||
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys
  );
}
