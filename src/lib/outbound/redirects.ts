/** Redirect rules: those of fetch, and stricter ones for credentials and encryption. Pure. */

export type OutboundRequest = {
  url: URL;
  method: string;
  headers: Headers;
  body: string | Uint8Array<ArrayBuffer> | null;
};

const STATUSES = new Set([301, 302, 303, 307, 308]);
/** Headers that describe a body; dropped together with it. */
const BODY_HEADERS = ["content-encoding", "content-language", "content-location", "content-type"];
/** The only headers sent to another origin: none of these identifies the user, any other may be a credential. */
const ANONYMOUS_HEADERS = new Set([...BODY_HEADERS, "accept", "accept-language", "mcp-protocol-version"]);

/** The redirect's target; undefined when the response is no redirect. Throws when the location cannot be parsed. */
export function redirectTarget(from: URL, status: number, location: string | null): URL | undefined {
  if (!STATUSES.has(status) || location === null) return undefined;
  return new URL(location, from);
}

/** The request that follows the redirect; or `problem`, why it must not be followed. */
export function redirected(
  request: OutboundRequest,
  target: URL,
  status: number,
): OutboundRequest | { problem: string } {
  if (request.url.protocol === "https:" && target.protocol !== "https:")
    return { problem: "it redirects from https to an address without encryption" };
  if (target.username !== "" || target.password !== "")
    return { problem: "it redirects to an address with a user name or password in it" };
  const headers = new Headers(request.headers);
  let { method, body } = request;
  const becomesGet =
    (status === 303 && method !== "GET" && method !== "HEAD") ||
    ((status === 301 || status === 302) && method === "POST");
  if (becomesGet) {
    [method, body] = ["GET", null];
    for (const name of BODY_HEADERS) headers.delete(name);
  }
  if (target.origin !== request.url.origin) {
    for (const name of [...headers.keys()]) if (!ANONYMOUS_HEADERS.has(name)) headers.delete(name);
  }
  return { url: target, method, headers, body };
}
