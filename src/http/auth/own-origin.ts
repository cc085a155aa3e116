/**
 * Whether a request that a browser sent with its cookie was sent by a page of ours. Cookies travel whoever wrote the
 * page, so without this every page on the web could act for whoever looks at it.
 */

export type BrowserHeaders = { origin?: string | undefined; secFetchSite?: string | undefined };

/** Browsers put an origin on everything that is not a plain read, and say of the rest where it came from. */
export function isFromOwnPage({ origin, secFetchSite }: BrowserHeaders, ownOrigin: string): boolean {
  if (origin !== undefined) return origin === ownOrigin;
  return secFetchSite === "same-origin";
}

/** A path of ours to return to, whatever was asked for: leading elsewhere would make us a stepping stone for others. */
export function readReturnTo(wanted: unknown, publicUrl: string, otherwise: string): string {
  if (typeof wanted !== "string" || wanted.length > MAX_RETURN_TO_CHARACTERS) return otherwise;
  // A path, and not the `//host` and `/\host` that browsers take for other servers.
  if (!/^\/(?![/\\])/.test(wanted) || !URL.canParse(wanted, publicUrl)) return otherwise;
  const url = new URL(wanted, publicUrl);
  return url.origin === new URL(publicUrl).origin ? url.pathname + url.search + url.hash : otherwise;
}

const MAX_RETURN_TO_CHARACTERS = 2_048;
