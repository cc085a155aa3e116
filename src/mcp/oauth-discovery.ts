/**
 * Finds out where a tool server's authorisations are got: the resource's own description (RFC 9728), the first
 * authorisation server that it names, and that one's metadata (RFC 8414 or OpenID Connect). A server without such
 * descriptions is its own authorisation server, with the endpoints of MCP's first edition.
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
import { asOauthFailure, tellingFetch } from "./oauth-failure.js";
import {
  OauthFailure,
  type AuthorizationServer,
  type OauthChallenge,
  type OauthFetch,
} from "./oauth-types.js";

const UNCHALLENGED: OauthChallenge = { resourceMetadataUrl: null, scope: null };
const UNAUTHORIZED_STATUS = 401;

/** Asks the server without any credentials, to hear what it wants. Rejects with an OauthFailure when it is not there. */
export async function readChallenge(url: URL, fetch: OauthFetch): Promise<OauthChallenge> {
  // Needs no session, so that a server that lets everybody in opens none.
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const response = await tellingFetch(fetch)(url, { method: "POST", headers, body });
  // Streams of servers that do not ask who speaks would stay open.
  await response.body?.cancel().catch(() => undefined);
  return response.status === UNAUTHORIZED_STATUS ? challengeOf(response) : UNCHALLENGED;
}

/** What the `WWW-Authenticate` of an answer says. */
export function challengeOf(response: Response): OauthChallenge {
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
  return { resourceMetadataUrl: resourceMetadataUrl?.href ?? null, scope: scope ?? null };
}

/** `challenge`: from the server's 401, when there was one. Rejects with an OauthFailure. */
export async function discoverAuthorizationServer(
  { url, challenge = UNCHALLENGED }: { url: URL; challenge?: OauthChallenge },
  fetch: OauthFetch,
): Promise<AuthorizationServer> {
  const telling = tellingFetch(fetch);
  const resource = await readResource(url, challenge.resourceMetadataUrl, telling);
  const named = resource?.authorization_servers?.[0];
  const address = named ?? new URL("/", url).href;
  const metadata = await readMetadata(address, telling);
  if (metadata !== undefined && named !== undefined && !isSameIssuer(metadata.parsed.issuer, named))
    throw new OauthFailure("metadata", `The metadata of ${named} are those of another issuer.`);
  const facts = { resource: resource?.resource ?? null, resourceScopes: resource?.scopes_supported ?? [] };
  if (metadata !== undefined) return { ...fromMetadata(metadata), ...facts };
  if (named !== undefined)
    throw new OauthFailure("metadata", `The authorisation server ${named} tells nothing of itself.`);
  return { ...guessed(new URL(address)), ...facts };
}

/** Null when the server describes no resource. */
async function readResource(
  url: URL,
  metadataUrl: string | null,
  fetch: OauthFetch,
): Promise<OAuthProtectedResourceMetadata | null> {
  const found = { isDescribed: metadataUrl !== null };
  // The library says in words alone whether there is none or it cannot be read.
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

/** `told`: also what the library leaves out of OpenID providers' metadata. */
type Metadata = { parsed: AuthorizationServerMetadata; told: Readonly<Record<string, unknown>> };

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
    const told = (await copy?.json()) as Metadata["told"];
    if (!parsed.response_types_supported.includes("code"))
      throw new OauthFailure("metadata", `${what}: it gives no authorisation codes.`);
    return { parsed, told };
  } catch (error) {
    throw asOauthFailure(error, what, "metadata");
  }
}

/** A slash at the end is often there in one place and not in the other. */
function isSameIssuer(one: string, other: string): boolean {
  const plain = (text: string) => (URL.canParse(text) ? new URL(text).href : text).replace(/\/$/, "");
  return plain(one) === plain(other);
}

type WithoutResource = Omit<AuthorizationServer, "resource" | "resourceScopes">;

function fromMetadata({ parsed: metadata, told }: Metadata): WithoutResource {
  const revocation = told["revocation_endpoint"];
  return {
    issuer: metadata.issuer,
    authorizationEndpoint: metadata.authorization_endpoint,
    tokenEndpoint: metadata.token_endpoint,
    registrationEndpoint: metadata.registration_endpoint ?? null,
    revocationEndpoint: typeof revocation === "string" && URL.canParse(revocation) ? revocation : null,
    tokenAuthMethods: metadata.token_endpoint_auth_methods_supported ?? [],
    revocationAuthMethods: textsOf(told["revocation_endpoint_auth_methods_supported"]),
    challengeMethods: metadata.code_challenge_methods_supported ?? [],
    scopes: metadata.scopes_supported ?? [],
    announcesIssuer: told["authorization_response_iss_parameter_supported"] === true,
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

/** Of the edition of 2025-03-26. */
function guessed(origin: URL): WithoutResource {
  return {
    ...unknown,
    authorizationEndpoint: new URL("/authorize", origin).href,
    tokenEndpoint: new URL("/token", origin).href,
    registrationEndpoint: new URL("/register", origin).href,
  };
}

/** Of the endpoints that an admin entered; nothing else is known. */
export function givenAuthorizationServer(given: {
  authorizeUrl: string;
  tokenUrl: string;
}): AuthorizationServer {
  return {
    ...unknown,
    authorizationEndpoint: given.authorizeUrl,
    tokenEndpoint: given.tokenUrl,
    resource: null,
    resourceScopes: [],
  };
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
