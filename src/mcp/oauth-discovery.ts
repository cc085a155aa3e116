/**
 * Discovery of an MCP server's authorisation server: the protected resource metadata (RFC 9728), the first authorisation
 * server that it names, and that one's metadata (RFC 8414 or OpenID Connect). A server without metadata is its own
 * authorisation server, with the default endpoints of MCP's 2025-03-26 edition.
 */
import {
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  extractWWWAuthenticateParams,
} from "@modelcontextprotocol/sdk/client/auth.js";
import type {
  AuthorizationServerMetadata,
  OAuthProtectedResourceMetadata,
} from "@modelcontextprotocol/sdk/shared/auth.js";
import { checkResourceAllowed } from "@modelcontextprotocol/sdk/shared/auth-utils.js";
import { asOauthFailure, reportingFetch } from "./oauth-failure.js";
import {
  OauthFailure,
  type AuthorizationServer,
  type OauthChallenge,
  type OauthFetch,
} from "./oauth-types.js";

const UNCHALLENGED: OauthChallenge = { resourceMetadataUrl: null, scope: null };
const UNAUTHORIZED_STATUS = 401;

/** Sends a request without credentials to get the server's challenge. Rejects with an OauthFailure when unreachable. */
export async function readChallenge(url: URL, fetch: OauthFetch): Promise<OauthChallenge> {
  // A ping needs no session, so that a server without authorisation opens none.
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const response = await reportingFetch(fetch)(url, { method: "POST", headers, body });
  // A server without authorisation might keep a stream open.
  await response.body?.cancel().catch(() => undefined);
  return response.status === UNAUTHORIZED_STATUS ? challengeOf(response) : UNCHALLENGED;
}

/** Parses a response's `WWW-Authenticate`. */
export function challengeOf(response: Response): OauthChallenge {
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
  return { resourceMetadataUrl: resourceMetadataUrl?.href ?? null, scope: scope ?? null };
}

/** `challenge`: from the server's 401, when there was one. Rejects with an OauthFailure. */
export async function discoverAuthorizationServer(
  { url, challenge = UNCHALLENGED }: { url: URL; challenge?: OauthChallenge },
  fetch: OauthFetch,
): Promise<AuthorizationServer> {
  const reporting = reportingFetch(fetch);
  const resource = await readResource(url, challenge.resourceMetadataUrl, reporting);
  const named = resource?.authorization_servers?.[0];
  const address = named ?? new URL("/", url).href;
  const metadata = await readMetadata(address, reporting);
  if (metadata !== undefined && named !== undefined && !isSameIssuer(metadata.parsed.issuer, named))
    throw new OauthFailure("metadata", `The metadata of ${named} are those of another issuer.`);
  const facts = { resource: resource?.resource ?? null, resourceScopes: resource?.scopes_supported ?? [] };
  if (metadata !== undefined) return { ...fromMetadata(metadata), ...facts };
  if (named !== undefined)
    throw new OauthFailure("metadata", `The authorisation server ${named} publishes no metadata.`);
  return { ...defaultEndpoints(new URL(address)), ...facts };
}

/** Null when the server has no protected resource metadata. */
async function readResource(
  url: URL,
  metadataUrl: string | null,
  fetch: OauthFetch,
): Promise<OAuthProtectedResourceMetadata | null> {
  const found = { isDescribed: metadataUrl !== null };
  // The library's errors do not distinguish absent metadata from unreadable ones.
  const watching: OauthFetch = async (address, init) => {
    const response = await fetch(address, init);
    found.isDescribed ||= response.ok || response.status >= 500;
    return response;
  };
  const options = metadataUrl === null ? {} : { resourceMetadataUrl: metadataUrl };
  const what = "The server's description of its authorisation cannot be used";
  const resource = await discoverOAuthProtectedResourceMetadata(url, options, watching).catch(
    (error: unknown) => {
      if (error instanceof OauthFailure || found.isDescribed) throw asOauthFailure(error, what, "metadata");
      return null;
    },
  );
  if (resource === null) return null;
  if (!checkResourceAllowed({ requestedResource: url, configuredResource: resource.resource }))
    throw new OauthFailure("metadata", `${what}: it is that of ${new URL(resource.resource).host}.`);
  return resource;
}

/** `raw`: also has the fields that the library drops from OpenID providers' metadata. */
type Metadata = { parsed: AuthorizationServerMetadata; raw: Readonly<Record<string, unknown>> };

async function readMetadata(address: string, fetch: OauthFetch): Promise<Metadata | undefined> {
  const what = "The authorisation server's metadata cannot be used";
  let copy: Response | undefined;
  const watching: OauthFetch = async (url, init) => {
    const response = await fetch(url, init);
    if (response.ok) copy = response.clone();
    return response;
  };
  try {
    const parsed = await discoverAuthorizationServerMetadata(address, { fetchFn: watching });
    if (parsed === undefined) return undefined;
    const raw = (await copy?.json()) as Metadata["raw"];
    if (!parsed.response_types_supported.includes("code"))
      throw new OauthFailure("metadata", `${what}: it gives no authorisation codes.`);
    return { parsed, raw };
  } catch (error) {
    throw asOauthFailure(error, what, "metadata");
  }
}

/** Ignores a trailing slash, which is often in only one of them. */
function isSameIssuer(one: string, other: string): boolean {
  const plain = (text: string) => (URL.canParse(text) ? new URL(text).href : text).replace(/\/$/, "");
  return plain(one) === plain(other);
}

type WithoutResource = Omit<AuthorizationServer, "resource" | "resourceScopes">;

function fromMetadata({ parsed: metadata, raw }: Metadata): WithoutResource {
  const revocation = raw["revocation_endpoint"];
  return {
    issuer: metadata.issuer,
    authorizationEndpoint: metadata.authorization_endpoint,
    tokenEndpoint: metadata.token_endpoint,
    registrationEndpoint: metadata.registration_endpoint ?? null,
    revocationEndpoint: typeof revocation === "string" && URL.canParse(revocation) ? revocation : null,
    tokenAuthMethods: metadata.token_endpoint_auth_methods_supported ?? [],
    revocationAuthMethods: stringsOf(raw["revocation_endpoint_auth_methods_supported"]),
    challengeMethods: metadata.code_challenge_methods_supported ?? [],
    scopes: metadata.scopes_supported ?? [],
    announcesIssuer: raw["authorization_response_iss_parameter_supported"] === true,
    takesClientDocuments: metadata.client_id_metadata_document_supported === true,
  };
}

const unknown = {
  issuer: null,
  registrationEndpoint: null,
  revocationEndpoint: null,
  tokenAuthMethods: [],
  revocationAuthMethods: [],
  challengeMethods: null,
  scopes: [],
  announcesIssuer: false,
  takesClientDocuments: false,
};

/** The default endpoints of MCP's edition of 2025-03-26. */
function defaultEndpoints(origin: URL): WithoutResource {
  return {
    ...unknown,
    authorizationEndpoint: new URL("/authorize", origin).href,
    tokenEndpoint: new URL("/token", origin).href,
    registrationEndpoint: new URL("/register", origin).href,
  };
}

/** An authorisation server of which only the endpoints are known, as an admin configured them. */
export function configuredAuthorizationServer(endpoints: {
  authorizeUrl: string;
  tokenUrl: string;
}): AuthorizationServer {
  return {
    ...unknown,
    authorizationEndpoint: endpoints.authorizeUrl,
    tokenEndpoint: endpoints.tokenUrl,
    resource: null,
    resourceScopes: [],
  };
}

function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
