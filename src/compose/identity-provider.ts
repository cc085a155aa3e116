/** The identity provider as it is configured, and people's own tokens of it. */
import type { Config } from "../config/config.js";
import { FreshIdentityTokens } from "../identity/identity-tokens.js";
import { IdentityProvider } from "../identity/provider.js";
import type { Clock } from "../lib/clock.js";
import type { Log } from "../lib/log.js";
import type { Database } from "../store/common/database.js";
import type { SecretBox } from "../store/common/secret-box.js";

/** Null when none is configured. `redirectUri`: where browsers come back to. */
export function openProvider({ config, clock }: { config: Config; clock: Clock }, redirectUri: string) {
  const { oidcIssuer: issuer, oidcClientId: clientId } = config;
  if (issuer === undefined || clientId === undefined) return null;
  const { oidcClientSecret: clientSecret, oidcScopes: scopes } = config;
  const now = () => clock.now();
  const settings = { issuer, clientId, clientSecret, scopes, redirectUri, now };
  return { issuer, provider: new IdentityProvider(settings) };
}

type TokenParts = { config: Config; database: Database; secrets: SecretBox; clock: Clock; log: Log };

/** A person's own token of the identity provider, renewed when it is about to expire; null when there is none. */
export function identityTokens(dependencies: TokenParts): (userId: string) => Promise<string | null> {
  const { database, secrets, clock, log } = dependencies;
  // Only browsers come back to somewhere.
  const found = openProvider(dependencies, "");
  if (!found) return () => Promise.resolve(null);
  const tokens = new FreshIdentityTokens({ database, secrets, clock, log, ...found });
  return (userId) => tokens.of(userId);
}
