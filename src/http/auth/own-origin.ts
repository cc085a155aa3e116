/**
 * Same-origin check for requests with a session cookie. Browsers send cookies with requests of any page, so without it
 * every page on the web could act for the user who visits it.
 */

export type BrowserHeaders = { origin?: string | undefined; secFetchSite?: string | undefined };

/** Browsers send `Origin` with everything but plain reads, and `Sec-Fetch-Site` with those. */
export function isFromOwnPage({ origin, secFetchSite }: BrowserHeaders, ownOrigin: string): boolean {
  if (origin !== undefined) return origin === ownOrigin;
  return secFetchSite === "same-origin";
}

/** A path of this deployment to return to, or the default: other targets would make this an open redirect. */
export function readReturnTo(returnTo: unknown, publicUrl: string, fallback: string): string {
  if (typeof returnTo !== "string" || returnTo.length > MAX_RETURN_TO_CHARACTERS) return fallback;
  // A path, not `//host` or `/\host`, which browsers treat as other hosts.
  if (!/^\/(?![/\\])/.test(returnTo) || !URL.canParse(returnTo, publicUrl)) return fallback;
  const url = new URL(returnTo, publicUrl);
  return url.origin === new URL(publicUrl).origin ? url.pathname + url.search + url.hash : fallback;
}

const MAX_RETURN_TO_CHARACTERS = 2_048;
