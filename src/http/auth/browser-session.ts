/** The session that a browser's request brings, if a page of ours has sent it. */
import type { IncomingHttpHeaders } from "node:http";
import { asShown } from "../../domain/users/presented-session.js";
import type { CookieJar } from "./cookies.js";
import { isFromOwnPage } from "./own-origin.js";

/** What stands in the place of a token; null when there is none that counts. */
export type ShownByBrowser = (headers: IncomingHttpHeaders) => string | null;

export const noBrowserSessions: ShownByBrowser = () => null;

export function browserSessions({
  cookies,
  publicUrl,
}: {
  cookies: CookieJar;
  publicUrl: string;
}): ShownByBrowser {
  const ownOrigin = new URL(publicUrl).origin;
  return (headers) => {
    const session = cookies.read("session", headers.cookie);
    if (session === null || session === "") return null;
    const secFetchSite = headers["sec-fetch-site"];
    const sender = { origin: headers.origin, secFetchSite: secFetchSite?.toString() };
    return isFromOwnPage(sender, ownOrigin) ? asShown(session) : null;
  };
}
