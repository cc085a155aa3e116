/** Composition of authentication: API tokens, and, if configured, browser sessions and services' bearer tokens. */
import type { ClaimRules } from "../domain/users/identity-claims.js";
import { sessionOf } from "../domain/users/presented-session.js";
import type { Viewer } from "../domain/users/viewer.js";
import { createCookieJar } from "../http/auth/cookies.js";
import type { SignInOptions } from "../http/auth/auth-routes.js";
import { BearerTokens, isBearerToken } from "../identity/bearer-tokens.js";
import { ATTEMPT_MS, SignIn } from "../identity/sign-in.js";
import { authenticateSession } from "../store/users/sessions.js";
import { authenticateToken } from "../store/users/tokens.js";
import type { Core } from "./core.js";
import { openProvider } from "./identity-provider.js";

export type Identities = {
  /** The viewer of a credential; null when it is invalid. */
  authenticate(credential: string): Promise<Viewer | null>;
  /** Absent when sign-in with a browser is not configured. */
  signIn?: SignInOptions;
};

/** `publicUrl`: this deployment's address for browsers. */
export function openIdentities(core: Core, publicUrl: string): Identities {
  const { config, database } = core;
  const limits = { lifeMs: config.sessionLifeMs, idleMs: config.sessionIdleMs };
  const signIn = openSignIn(core, publicUrl);
  const bearers = openBearerTokens(core);
  return {
    async authenticate(credential) {
      const session = sessionOf(credential);
      if (session !== null) return signIn ? authenticateSession(database, session, limits) : null;
      if (bearers && isBearerToken(credential)) return bearers.authenticate(credential);
      return authenticateToken(database, credential);
    },
    ...(signIn && { signIn }),
  };
}

function openSignIn(core: Core, publicUrl: string): SignInOptions | null {
  const { config, clock, secrets } = core;
  const found = openProvider(core, `${publicUrl}/auth/callback`);
  if (!found) return null;
  const limits = { lifeMs: config.sessionLifeMs, idleMs: config.sessionIdleMs };
  const now = () => clock.now();
  const port = new SignIn({ ...accountDependencies(core), secrets, provider: found.provider, limits, now });
  const cookies = createCookieJar(publicUrl);
  return { port, cookies, publicUrl, noteMs: ATTEMPT_MS, sessionMs: config.sessionLifeMs };
}

function openBearerTokens(core: Core): BearerTokens | null {
  const { jwtIssuer: issuer, jwtAudience: audience } = core.config;
  if (issuer === undefined || audience === undefined) return null;
  return new BearerTokens({ ...accountDependencies(core), issuer, audience, now: () => core.clock.now() });
}

function accountDependencies({ config, database, bus, log }: Core) {
  const rules: ClaimRules = {
    roleClaim: config.oidcRoleClaim ?? null,
    adminValues: config.oidcAdminValues,
    allowedDomains: config.oidcAllowedDomains.map((domain) => domain.toLowerCase()),
  };
  return { database, rules, log, announceUsers: () => bus.publishConfigChange("people") };
}
