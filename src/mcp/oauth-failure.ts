/** Maps the OAuth library's errors to `OauthFailure`s. Text from other servers is bounded and stripped of control characters. */
import { OAuthError } from "@modelcontextprotocol/sdk/server/auth/errors.js";
import { cutText } from "../lib/text/utf8.js";
import { OauthFailure, type OauthFailureKind, type OauthFetch } from "./oauth-types.js";

/** A sentence or two. */
const MAX_DESCRIPTION_BYTES = 300;

/** Prefix of the library's message about a response that is not OAuth's, which then repeats the response. */
const UNREADABLE = /^HTTP (\d{3}): /;

/** `fetch` that rejects with `OauthFailure`s: the library takes a TypeError for a CORS error of a browser and goes on. */
export function reportingFetch(fetch: OauthFetch): OauthFetch {
  return async (url, init) => {
    try {
      return await fetch(url, init);
    } catch (cause) {
      if (cause instanceof OauthFailure) throw cause;
      throw new OauthFailure("unreachable", `${hostOf(url)} cannot be reached: ${messageOf(cause)}`, {
        cause,
      });
    }
  };
}

/** `what` is the failed step: "The client was not registered". */
export function asOauthFailure(error: unknown, what: string, kind: OauthFailureKind): OauthFailure {
  if (error instanceof OauthFailure) return error;
  if (error instanceof OAuthError) {
    const { errorCode } = error;
    const [, status] = UNREADABLE.exec(error.message) ?? [];
    if (status !== undefined)
      return new OauthFailure("answer", `${what}: the authorisation server answered HTTP ${status}.`);
    const description = plainText(error.message);
    const reason = description === "" ? errorCode : `${errorCode}: ${description}`;
    return new OauthFailure("refused", `${what}: ${reason}`, { code: errorCode });
  }
  if (error instanceof SyntaxError || (error instanceof Error && error.name === "ZodError"))
    return new OauthFailure(kind, `${what}: the answer is not of the form that OAuth prescribes.`);
  return new OauthFailure(kind, `${what}: ${messageOf(error)}`, { cause: error });
}

/** One line without control characters, of bounded length. */
export function plainText(text: string): string {
  return cutText(text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ").trim(), MAX_DESCRIPTION_BYTES);
}

/** Without path and query, which may contain secrets. */
function hostOf(url: string | URL): string {
  return URL.canParse(String(url)) ? new URL(url).host : "The server";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? plainText(error.message) : "for an unknown reason";
}
