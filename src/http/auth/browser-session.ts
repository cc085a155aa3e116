/** Session cookie of a browser's request; counts only when a page of this deployment has sent the request. */
import type { IncomingHttpHeaders } from "node:http";
import { presentSession } from "../../domain/users/presented-session.js";
import type { CookieJar } from "./cookies.js";
import { isFromOwnPage } from "./own-origin.js";

/** Returns a credential that is used like a token; null when there is none that counts. */
export type ReadBrowserSession = (headers: IncomingHttpHeaders) => string | null;

export const noBrowserSessions: ReadBrowserSession = () => null;

export function browserSessions({
  cookies,
  publicUrl,
}: {
  cookies: CookieJar;
  publicUrl: string;
}): ReadBrowserSession {
  const ownOrigin = new URL(publicUrl).origin;
  return (headers) => {
    const session = cookies.read("session", headers.cookie);
    if (session === null || session === "") return null;
    const secFetchSite = headers["sec-fetch-site"];
    const sender = { origin: headers.origin, secFetchSite: secFetchSite?.toString() };
    return isFromOwnPage(sender, ownOrigin) ? presentSession(session) : null;
  };
}
