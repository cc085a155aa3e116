// MCP server behind OAuth on loopback, built on the official SDK's authorisation server, with pages on which users sign
// in and consent.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { InvalidGrantError, InvalidTokenError } from "@modelcontextprotocol/sdk/server/auth/errors.js";
import { requireBearerAuth } from "@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js";
import type {
  AuthorizationParams,
  OAuthServerProvider,
} from "@modelcontextprotocol/sdk/server/auth/provider.js";
import { mcpAuthRouter } from "@modelcontextprotocol/sdk/server/auth/router.js";
import type { AuthInfo } from "@modelcontextprotocol/sdk/server/auth/types.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { OAuthClientInformationFull, OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import express, { type Response } from "express";

type Grant = { username: string; clientId: string; scopes: string[]; resource: string | undefined };
type Asked = { client: OAuthClientInformationFull; params: AuthorizationParams };

const NO_LIMIT = { rateLimit: false as const };

export class OauthServer implements OAuthServerProvider {
  /** Lifetime of access tokens, in seconds. */
  lifeSeconds = 3_600;
  /** Named in answers to browsers (RFC 9207); null = not. */
  issuerInAnswers: string | null = null;
  /** Fails refresh requests with a server error. */
  isIll = false;
  /** Called with the user before a tool call is answered. */
  onCall: (username: string) => void = () => undefined;
  /** Called before a refresh is answered, which waits for it. */
  beforeRefresh: () => Promise<void> = () => Promise.resolve();
  readonly counts = {
    ...{ registrations: 0, refreshes: 0, refusals: 0 },
    ...{ revocations: [] as string[], calls: [] as string[] },
  };
  readonly #clients = new Map<string, OAuthClientInformationFull>();
  readonly #asked = new Map<string, Asked>();
  readonly #codes = new Map<string, Asked & { username: string }>();
  readonly #access = new Map<string, Grant & { expiresAt: number }>();
  readonly #refresh = new Map<string, Grant>();
  #url = "";
  #end: () => Promise<void> = () => Promise.resolve();

  /** Address of the MCP server. */
  get url(): string {
    return `${this.#url}/mcp`;
  }

  get clientsStore() {
    return {
      getClient: (id: string) => this.#clients.get(id),
      registerClient: (client: Omit<OAuthClientInformationFull, "client_id" | "client_id_issued_at">) => {
        this.counts.registrations += 1;
        const made = { ...client, client_id: `client-${randomUUID()}` };
        this.#clients.set(made.client_id, made);
        return made;
      },
    };
  }

  async authorize(
    client: OAuthClientInformationFull,
    params: AuthorizationParams,
    res: Response,
  ): Promise<void> {
    const id = randomUUID();
    this.#asked.set(id, { client, params });
    res.send(`<!doctype html><title>Sign in</title><form method="post" action="/agree">
      <input type="hidden" name="id" value="${id}"><input name="username" aria-label="Name">
      <button name="answer" value="allow">Allow</button><button name="answer" value="deny">Deny</button></form>`);
  }

  async challengeForAuthorizationCode(_client: OAuthClientInformationFull, code: string): Promise<string> {
    return this.#code(code).params.codeChallenge;
  }

  async exchangeAuthorizationCode(
    client: OAuthClientInformationFull,
    code: string,
    _verifier?: string,
    redirectUri?: string,
    resource?: URL,
  ): Promise<OAuthTokens> {
    const { params, username } = this.#code(code);
    this.#codes.delete(code);
    if (redirectUri !== params.redirectUri) throw new InvalidGrantError("another redirect");
    if (resource?.href !== this.url) throw new InvalidGrantError("another resource");
    return this.#tokens({
      username,
      clientId: client.client_id,
      scopes: params.scopes ?? [],
      resource: this.url,
    });
  }

  async exchangeRefreshToken(client: OAuthClientInformationFull, token: string): Promise<OAuthTokens> {
    this.counts.refreshes += 1;
    await this.beforeRefresh();
    if (this.isIll) throw new Error("The server is ill.");
    const grant = this.#refresh.get(token);
    if (grant?.clientId !== client.client_id) throw new InvalidGrantError("There is no such token.");
    this.#refresh.delete(token);
    return this.#tokens(grant);
  }

  async verifyAccessToken(token: string): Promise<AuthInfo> {
    const grant = this.#access.get(token);
    if (!grant) {
      this.counts.refusals += 1;
      throw new InvalidTokenError("There is no such token.");
    }
    const { clientId, scopes, expiresAt, username } = grant;
    return { token, clientId, scopes, expiresAt, extra: { username } };
  }

  async revokeToken(_client: OAuthClientInformationFull, { token }: { token: string }): Promise<void> {
    const grant = this.#refresh.get(token) ?? this.#access.get(token);
    this.#refresh.delete(token);
    this.#access.delete(token);
    if (grant) this.counts.revocations.push(grant.username);
  }

  /** Invalidates the issued access tokens before they expire. */
  dropAccessTokens(): void {
    this.#access.clear();
  }

  /** Revokes all consents, or only the user's. */
  dropGrants(ofUser?: string): void {
    for (const grants of [this.#access, this.#refresh])
      for (const [token, { username }] of grants)
        if (ofUser === undefined || username === ofUser) grants.delete(token);
  }

  /** Answers the consent page for the user; returns the address that the browser is redirected to. */
  agree(id: string, username: string, isAllowed: boolean): string {
    const asked = this.#asked.get(id);
    if (!asked) throw new Error("Unknown authorization request.");
    this.#asked.delete(id);
    const { redirectUri, state } = asked.params;
    const url = new URL(redirectUri);
    if (isAllowed) {
      const code = randomUUID();
      this.#codes.set(code, { ...asked, username });
      url.searchParams.set("code", code);
    } else {
      url.searchParams.set("error", "access_denied");
      url.searchParams.set("error_description", "<b>No</b> & never");
    }
    if (state !== undefined) url.searchParams.set("state", state);
    if (this.issuerInAnswers !== null) url.searchParams.set("iss", this.issuerInAnswers);
    return url.href;
  }

  async start(): Promise<this> {
    const app = express();
    const server = app.listen(0, "127.0.0.1");
    await once(server, "listening");
    this.#url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    app.use(
      mcpAuthRouter({
        provider: this,
        issuerUrl: new URL(this.#url),
        resourceServerUrl: new URL(this.url),
        scopesSupported: ["tools"],
        authorizationOptions: NO_LIMIT,
        clientRegistrationOptions: NO_LIMIT,
        revocationOptions: NO_LIMIT,
        tokenOptions: NO_LIMIT,
      }),
    );
    app.post("/agree", express.urlencoded({ extended: false }), (request, response) => {
      const { id, username, answer } = request.body as Record<string, string>;
      response.redirect(this.agree(id ?? "", username ?? "", answer === "allow"));
    });
    const resourceMetadataUrl = `${this.#url}/.well-known/oauth-protected-resource/mcp`;
    const guard = requireBearerAuth({ verifier: this, resourceMetadataUrl });
    app.post("/mcp", guard, express.json(), async (request, response) => {
      const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
      response.on("close", () => void transport.close());
      await this.#tools(String(request.auth?.extra?.["username"])).connect(transport);
      await transport.handleRequest(request, response, request.body);
    });
    this.#end = async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    };
    return this;
  }

  stop(): Promise<void> {
    return this.#end();
  }

  #tools(username: string): Server {
    const server = new Server({ name: "accounts", version: "1.0.0" }, { capabilities: { tools: {} } });
    const number = { type: "number" };
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: [
        { name: "whoami", description: "Says who asks.", inputSchema: { type: "object" as const } },
        {
          name: "add",
          description: "Adds.",
          inputSchema: {
            type: "object" as const,
            properties: { a: number, b: number },
            required: ["a", "b"],
          },
        },
      ],
    }));
    server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
      this.counts.calls.push(username);
      this.onCall(username);
      const { a, b } = params.arguments ?? {};
      const text = params.name === "add" ? String(Number(a) + Number(b)) : `You are ${username}.`;
      return { content: [{ type: "text" as const, text }] };
    });
    return server;
  }

  #code(code: string): Asked & { username: string } {
    const known = this.#codes.get(code);
    if (!known) throw new InvalidGrantError("There is no such code.");
    return known;
  }

  #tokens(grant: Grant): OAuthTokens {
    const [access, refresh] = [`access-${randomUUID()}`, `refresh-${randomUUID()}`];
    const expiresAt = Math.floor(Date.now() / 1_000) + Math.max(this.lifeSeconds, 3_600);
    this.#access.set(access, { ...grant, expiresAt });
    this.#refresh.set(refresh, grant);
    return {
      access_token: access,
      token_type: "bearer",
      expires_in: this.lifeSeconds,
      refresh_token: refresh,
      scope: grant.scopes.join(" "),
    };
  }
}
