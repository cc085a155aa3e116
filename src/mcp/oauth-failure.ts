/** The protocol library's errors as ours. What a stranger wrote is bounded before anybody reads it. */
import { OAuthError } from "@modelcontextprotocol/sdk/server/auth/errors.js";
import { cutText } from "../lib/text/utf8.js";
import { OauthFailure, type OauthFailureKind, type OauthFetch } from "./oauth-types.js";

/** A sentence or two. */
const MAX_DESCRIPTION_BYTES = 300;

/** How the library begins what it says of an answer that is not OAuth's, before it repeats that answer. */
const UNREADABLE = /^HTTP (\d{3}): /;

/** A fetch whose failures are ours: the library takes a TypeError for a browser's refusal, and goes on without. */
export function tellingFetch(fetch: OauthFetch): OauthFetch {
  return async (url, init) => {
    try {
      return await fetch(url, init);
    } catch (cause) {
      if (cause instanceof OauthFailure) throw cause;
      throw new OauthFailure("unreachable", `${hostOf(url)} cannot be reached: ${wordsOf(cause)}`, { cause });
    }
  };
}

/** `what` is the step in words: "The client was not registered". */
export function asOauthFailure(error: unknown, what: string, kind: OauthFailureKind): OauthFailure {
  if (error instanceof OauthFailure) return error;
  if (error instanceof OAuthError) {
    const { errorCode } = error;
    const [, status] = UNREADABLE.exec(error.message) ?? [];
    if (status !== undefined)
      return new OauthFailure("answer", `${what}: the authorisation server answered HTTP ${status}.`);
    const description = plainText(error.message);
    const said = description === "" ? errorCode : `${errorCode}: ${description}`;
    return new OauthFailure("refused", `${what}: ${said}`, { code: errorCode });
  }
  if (error instanceof SyntaxError || (error instanceof Error && error.name === "ZodError"))
    return new OauthFailure(kind, `${what}: the answer is not of the form that OAuth prescribes.`);
  return new OauthFailure(kind, `${what}: ${wordsOf(error)}`, { cause: error });
}

/** One line without control characters, of bounded length. */
export function plainText(text: string): string {
  return cutText(text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ").trim(), MAX_DESCRIPTION_BYTES);
}

/** Without path and query, which may say more than others should read. */
function hostOf(url: string | URL): string {
  return URL.canParse(String(url)) ? new URL(url).host : "The server";
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? plainText(error.message) : "for an unknown reason";
}
