/**
 * OAuth flows of users with MCP servers: started by a mutation, consented to on our page, finished by the redirect
 * back. The state is derived from the ticket, and only a hash of the state is stored, so that read access to the
 * database is not enough to open the page or to finish the flow.
 */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import type {
  McpOauthCallback,
  McpOauthResult,
  McpOauthPages,
  McpOauthConsent,
} from "../../domain/mcp/oauth-flow.js";
import { beginAuthorization, exchangeCode, findIssuerProblem, revokeToken } from "../../mcp/oauth.js";
import { OauthFailure } from "../../mcp/oauth-types.js";
import {
  connectMcpServer,
  disconnectMcpServer,
  openRefreshToken,
  type McpConnectionRecord,
} from "../../store/mcp/mcp-connections.js";
import {
  beginFlow,
  bindFlow,
  findFlow,
  openCodeVerifier,
  takeFlow,
  type McpOauthFlow,
} from "../../store/mcp/mcp-oauth-flows.js";
import { findMcpServers, type McpServerRecord } from "../../store/mcp/mcp-servers.js";
import { grantValues } from "./grant.js";
import {
  discoverRegistration,
  withStepTimeout,
  knownRegistration,
  type OauthDependencies,
} from "./oauth-client.js";
import { openGrant } from "./token-renewal.js";

const TICKET_BYTES = 32;
/** Disconnecting waits for the server at most this long. */
const REVOKE_MS = 5_000;

export type FlowDependencies = OauthDependencies & { addresses(): McpOauthAddresses };

/** This deployment's addresses for browsers and authorization servers. */
type McpOauthAddresses = {
  /** Without the ticket. */
  startUrl: string;
  redirectUri: string;
  /** Address of our client metadata document; null = not reachable for authorization servers. */
  documentUrl: string | null;
};

type StartedFlow =
  | { ok: true; authorizationUrl: string; expiresAt: Date }
  /** `message` is shown to users. */
  | { ok: false; message: string };

export class OauthFlows implements McpOauthPages {
  constructor(private readonly dependencies: FlowDependencies) {}

  /** `returnTo` is an absolute URL that was validated as ours. */
  async begin(userId: string, record: McpServerRecord, returnTo: string | null): Promise<StartedFlow> {
    const { database, secrets, log } = this.dependencies;
    const addresses = this.dependencies.addresses();
    const { redirectUri } = addresses;
    try {
      const registration = await discoverRegistration(this.dependencies, record, addresses);
      const started = await beginAuthorization(registration, { redirectUri, scopes: registration.scopes });
      const ticket = randomBytes(TICKET_BYTES).toString("base64url");
      const expiresAt = await beginFlow(database, secrets, {
        stateHash: hash(stateOf(ticket)),
        userId,
        serverId: record.id,
        serverVersion: record.version,
        codeVerifier: started.codeVerifier,
        authorizationUrl: started.authorizationUrl.href,
        redirectUri,
        returnTo,
      });
      const url = new URL(addresses.startUrl);
      url.searchParams.set("ticket", ticket);
      return { ok: true, authorizationUrl: url.href, expiresAt };
    } catch (error) {
      if (!(error instanceof OauthFailure)) throw error;
      log.warn({ err: error, serverId: record.id }, "starting an authorization for an MCP server failed");
      return { ok: false, message: `${record.displayName} cannot be connected: ${error.message}` };
    }
  }

  async readConsent(ticket: string): Promise<McpOauthConsent | null> {
    const flow = await findFlow(this.dependencies.database, hash(stateOf(ticket)));
    if (flow === null) return null;
    const { serverName, userName, username, authorizationUrl } = flow;
    return { serverName, userName, username, host: new URL(authorizationUrl).host };
  }

  async authorize(ticket: string, browser: string): Promise<string | null> {
    const state = stateOf(ticket);
    const bound = await bindFlow(this.dependencies.database, {
      stateHash: hash(state),
      browserHash: hash(browser),
    });
    if (bound === null) return null;
    const url = new URL(bound);
    url.searchParams.set("state", state);
    return url.href;
  }

  async finish(answer: McpOauthCallback, browser: string): Promise<McpOauthResult> {
    const { database, log } = this.dependencies;
    const which = { stateHash: hash(answer.state), browserHash: hash(browser) };
    const flow = await takeFlow(database, which);
    if (flow === null) return { kind: "over" };
    const { serverName } = flow;
    try {
      return await this.#end(flow, answer);
    } catch (error) {
      const reference = randomUUID();
      log.error({ err: error, reference, serverId: flow.serverId }, "finishing an authorization failed");
      const reason =
        error instanceof OauthFailure ? error.message : "Something went wrong on our side. Try again.";
      return { kind: "failed", serverName, reason, reference };
    }
  }

  /** Deletes the user's authorization, then revokes it at the server. False when there was none. */
  async disconnect(userId: string, record: McpServerRecord): Promise<boolean> {
    const gone = await disconnectMcpServer(this.dependencies.database, userId, record.id);
    if (gone === null) return false;
    try {
      await this.#revoke(gone, record);
    } catch (error) {
      this.dependencies.log.warn({ err: error, serverId: record.id }, "MCP server's token was not revoked");
    }
    return true;
  }

  async #end(flow: McpOauthFlow, { code, issuer, error }: McpOauthCallback): Promise<McpOauthResult> {
    const { database, secrets } = this.dependencies;
    const { serverName, serverId, returnTo } = flow;
    const [record] = await findMcpServers(database, [serverId]);
    const registration = record ? knownRegistration(secrets, record) : null;
    if (record === undefined || registration === null || flow.serverVersion !== record.version)
      return { kind: "changed", serverName };
    // The client may have been replaced during the consent.
    if (new URL(flow.authorizationUrl).searchParams.get("client_id") !== registration.client.id)
      return { kind: "changed", serverName };
    const wrong = findIssuerProblem(registration.server, issuer);
    if (wrong) return { kind: "declined", serverName, reason: wrong.message };
    if (error) return { kind: "declined", serverName, reason: reasonOf(error) };
    if (code === null) return { kind: "declined", serverName, reason: "The answer has no code." };
    const verifier = openCodeVerifier(secrets, flow);
    if (verifier.kind !== "opened") throw new Error(`The flow's code verifier is ${verifier.kind}.`);
    const exchange = { code, codeVerifier: verifier.text, redirectUri: flow.redirectUri };
    const tokens = await withStepTimeout(this.dependencies, record, (fetch) =>
      exchangeCode({ ...registration, fetch }, exchange),
    );
    const asked = new URL(flow.authorizationUrl).searchParams.get("scope");
    const formerScopes = asked === null ? [] : asked.split(" ");
    const isSaved = await connectMcpServer(database, secrets, {
      userId: flow.userId,
      serverId,
      serverVersion: record.version,
      tokens: grantValues(tokens, { serverUrl: record.url, registration, formerScopes }),
    });
    return isSaved ? { kind: "connected", serverId, serverName, returnTo } : { kind: "changed", serverName };
  }

  /** The refresh token first, as servers revoke its access tokens with it. */
  async #revoke(gone: McpConnectionRecord, record: McpServerRecord): Promise<void> {
    const grant = openGrant(this.dependencies, gone);
    const registration = knownRegistration(this.dependencies.secrets, record);
    // A token issued by another authorization server is not sent to the current one.
    if (grant === null || registration?.server.tokenEndpoint !== grant.tokenEndpoint) return;
    const refresh = openRefreshToken(this.dependencies.secrets, gone);
    await withStepTimeout(
      this.dependencies,
      record,
      async (fetch) => {
        const at = { ...registration, fetch };
        if (refresh?.kind === "opened") await revokeToken(at, { token: refresh.text, kind: "refresh_token" });
        await revokeToken(at, { token: grant.token, kind: "access_token" });
      },
      REVOKE_MS,
    );
  }
}

function stateOf(ticket: string): string {
  return createHash("sha256").update(`state of ${ticket}`).digest("base64url");
}

function hash(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function reasonOf({ code, description }: { code: string; description: string }): string {
  return description === "" ? code : `${code}: ${description}`;
}
