// The program that the official conformance suite drives against the server whose address is the last argument. Parley's
// own: the connection, lists, calls, renewals and challenges (src/mcp), the way out (src/lib/outbound), and each step of
// a user's authorisation. The scenarios': which tools are called with what, that questions are accepted, a user who
// consents at once, and machines' own grants (the library's), of which Parley has none. Ends with an error as they do.
import { auth } from "@modelcontextprotocol/sdk/client/auth.js";
import {
  ClientCredentialsProvider,
  PrivateKeyJwtProvider,
} from "@modelcontextprotocol/sdk/client/auth-extensions.js";
import { z } from "zod";
import type { JsonObject } from "../../src/domain/common/json.js";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { OutboundFetch } from "../../src/lib/outbound/outbound-fetch.js";
import { connectMcp } from "../../src/mcp/client.js";
import { discoverAuthorizationServer } from "../../src/mcp/oauth-discovery.js";
import type { AuthorizationServer, OauthClient, OauthTokens } from "../../src/mcp/oauth-types.js";
import {
  beginAuthorization,
  exchangeCode,
  findIssuerProblem,
  obtainClient,
  refreshTokens,
  scopesToRequest,
} from "../../src/mcp/oauth.js";
import { McpForbidden, McpUnauthorized, type McpChallenge } from "../../src/mcp/types.js";

/** The suite knows this address, and accepts it as a client's id. */
const DOCUMENT_URL = "https://conformance-test.local/client-metadata.json";
const REDIRECT_URI = "http://localhost:3000/callback";
/** As often as a user would be asked: without a token, with the known scopes, and once for more. */
const MAX_AUTHORIZATIONS = 3;
/** All scenarios run at once, each in two programs: on few cores they wait for each other. */
const TIMEOUT_MS = 60_000;
/** Arguments of the suite's tools; others have none. */
const ARGUMENTS: Record<string, JsonObject> = { add_numbers: { a: 5, b: 3 } };

const contextSchema = z.object({
  client_id: z.string().optional(),
  client_secret: z.string().optional(),
  private_key_pem: z.string().optional(),
  signing_algorithm: z.string().default("ES256"),
});

const url = new URL(process.argv.at(-1) ?? "");
const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";
const context = contextSchema.parse(JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}"));
const outbound = new OutboundFetch(systemClock);
const fetch = outbound.for({ isPrivateAllowed: true, timeoutMs: TIMEOUT_MS, maxBodyBytes: null });

/** State of a user's authorisation. */
type Grant = { server: AuthorizationServer; client: OauthClient; tokens: OauthTokens };

async function authorize({ resourceMetadataUrl, scope }: McpChallenge): Promise<Grant> {
  const challenge = { resourceMetadataUrl: resourceMetadataUrl ?? null, scope: scope ?? null };
  const server = await discoverAuthorizationServer({ url, challenge }, fetch);
  const scopes = scopesToRequest(server, { configured: [], challenge });
  const wanted = { redirectUri: REDIRECT_URI, documentUrl: DOCUMENT_URL, scopes };
  const known = { secret: context.client_secret ?? null, authMethod: null, secretExpiresAt: null };
  const client: OauthClient =
    context.client_id === undefined
      ? await obtainClient(server, wanted, fetch)
      : { id: context.client_id, ...known };
  const begun = await beginAuthorization({ server, client }, { redirectUri: REDIRECT_URI, scopes });
  begun.authorizationUrl.searchParams.set("state", "conformance");
  // The suite's authorisation server redirects at once, as after a user's consent.
  const consent = await fetch(begun.authorizationUrl, { redirect: "manual" });
  const answer = new URL(consent.headers.get("location") ?? "").searchParams;
  const problem = findIssuerProblem(server, answer.get("iss"));
  if (problem !== null) throw problem;
  const input = {
    code: answer.get("code") ?? "",
    codeVerifier: begun.codeVerifier,
    redirectUri: REDIRECT_URI,
  };
  return { server, client, tokens: await exchangeCode({ server, client, fetch }, input) };
}

/** Machines' own grants, of which Parley has none: the library gets the token that Parley's client then shows. */
async function machineHeaders(): Promise<Record<string, string>> {
  const { client_id: clientId = "", client_secret: clientSecret, private_key_pem: privateKey = "" } = context;
  const provider =
    clientSecret === undefined
      ? new PrivateKeyJwtProvider({ clientId, privateKey, algorithm: context.signing_algorithm })
      : new ClientCredentialsProvider({ clientId, clientSecret });
  await auth(provider, { serverUrl: url, fetchFn: fetch });
  return { authorization: `Bearer ${provider.tokens()?.access_token ?? ""}` };
}

function headersOf(grant: Grant | undefined): Record<string, string> {
  return grant === undefined
    ? {}
    : { authorization: `${grant.tokens.tokenType} ${grant.tokens.accessToken}` };
}

/** As a turn does: connects, lists, calls every tool, lists again for the next step, and leaves. */
async function use(headers: Record<string, string>, grant: Grant | undefined): Promise<void> {
  const client = await connectMcp(
    {
      name: scenario,
      url,
      transport: "streamable_http",
      headers,
      async renewHeaders() {
        const refreshToken = grant?.tokens.refreshToken;
        if (grant === undefined || refreshToken === undefined || refreshToken === null) return null;
        const tokens = await refreshTokens({ ...grant, fetch }, refreshToken).catch(() => null);
        return tokens === null ? null : headersOf({ ...grant, tokens });
      },
      fetch,
      clock: systemClock,
      log: createLog("warn"),
      // The suite wants to see the defaults of the question's schema accepted; turns have no user to ask.
      ...(scenario.startsWith("elicitation") && {
        onElicitation: () => Promise.resolve({ action: "accept", content: {} }),
      }),
    },
    { timeoutMs: TIMEOUT_MS },
  );
  try {
    for (const { name } of await client.listTools()) {
      await client.call({ tool: name, args: ARGUMENTS[name] ?? {}, signal: AbortSignal.timeout(TIMEOUT_MS) });
    }
    await client.listTools();
  } finally {
    await client.close();
  }
}

async function run(): Promise<void> {
  if (scenario.includes("client-credentials")) return use(await machineHeaders(), undefined);
  let grant: Grant | undefined;
  for (let authorizations = 0; ; authorizations += 1) {
    try {
      return await use(headersOf(grant), grant);
    } catch (error) {
      const isAsked = error instanceof McpUnauthorized || error instanceof McpForbidden;
      if (!isAsked || authorizations === MAX_AUTHORIZATIONS) throw error;
      grant = await authorize(error.challenge);
    }
  }
}

try {
  await run();
} finally {
  await outbound.close();
}
