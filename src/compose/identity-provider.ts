/** Composition of the identity provider and of users' tokens from it. */
import type { Config } from "../config/config.js";
import { FreshIdentityTokens } from "../identity/identity-tokens.js";
import { IdentityProvider } from "../identity/provider.js";
import type { Clock } from "../lib/clock.js";
import type { Log } from "../lib/log.js";
import type { Database } from "../store/common/database.js";
import type { SecretBox } from "../store/common/secret-box.js";

/** Null when none is configured. `redirectUri`: the address of the redirect back to us. */
export function openProvider({ config, clock }: { config: Config; clock: Clock }, redirectUri: string) {
  const { oidcIssuer: issuer, oidcClientId: clientId } = config;
  if (issuer === undefined || clientId === undefined) return null;
  const { oidcClientSecret: clientSecret, oidcScopes: scopes } = config;
  const now = () => clock.now();
  const settings = { issuer, clientId, clientSecret, scopes, redirectUri, now };
  return { issuer, provider: new IdentityProvider(settings) };
}

type TokenDependencies = { config: Config; database: Database; secrets: SecretBox; clock: Clock; log: Log };

/** Returns a user's token from the identity provider, renewed when it is about to expire; null when there is none. */
export function identityTokens(dependencies: TokenDependencies): (userId: string) => Promise<string | null> {
  const { database, secrets, clock, log } = dependencies;
  // Renewals need no redirect URI.
  const found = openProvider(dependencies, "");
  if (!found) return () => Promise.resolve(null);
  const tokens = new FreshIdentityTokens({ database, secrets, clock, log, ...found });
  return (userId) => tokens.of(userId);
}
