// Real OpenID Connect provider as its own process. The variable SETTINGS has its port and users; it prints a line once
// it listens. Its own development pages accept any password.
import Provider, { type Account, type Configuration } from "oidc-provider";

type Settings = {
  port: number;
  redirectUri: string;
  signedOutUri: string;
  users: Record<string, Record<string, unknown>>;
  accessTokenSeconds: number;
};

const settings = JSON.parse(process.env["SETTINGS"] ?? "") as Settings;
const issuer = `http://127.0.0.1:${settings.port}`;

const configuration: Configuration = {
  clients: [
    {
      client_id: "parley",
      client_secret: "the-secret-of-the-tests",
      redirect_uris: [settings.redirectUri],
      post_logout_redirect_uris: [settings.signedOutUri],
      grant_types: ["authorization_code", "refresh_token"],
    },
    {
      client_id: "service",
      client_secret: "the-secret-of-the-service",
      redirect_uris: [],
      response_types: [],
      grant_types: ["client_credentials"],
    },
  ],
  claims: {
    openid: ["sub"],
    profile: ["name", "preferred_username", "groups"],
    email: ["email", "email_verified"],
  },
  scopes: ["openid", "offline_access", "profile", "email"],
  cookies: { keys: ["a key of the tests"] },
  pkce: { required: () => true },
  features: { devInteractions: { enabled: true }, rpInitiatedLogout: { enabled: true } },
  findAccount: (_context, id): Account => ({
    accountId: id,
    claims: () => ({ ...settings.users[id], sub: id }),
  }),
  issueRefreshToken: async (_context, client) => client.grantTypeAllowed("refresh_token"),
  ttl: {
    AccessToken: settings.accessTokenSeconds,
    IdToken: 3_600,
    RefreshToken: 3_600,
    Session: 3_600,
    Grant: 3_600,
    Interaction: 600,
  },
};

const provider = new Provider(issuer, configuration);
provider.listen(settings.port, "127.0.0.1", () => process.stdout.write(`listening at ${issuer}\n`));
