/** What went wrong with a tool server → our words, without what nobody may read. */
import { SseError } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ErrorCode, McpError } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { errorText } from "../lib/text/error-text.js";
import { OutboundLimitExceeded, OutboundRefused } from "../lib/outbound/refused.js";
import { cutText } from "../lib/text/utf8.js";
import { McpFailure, type McpFailureKind } from "./types.js";

/** Of what a server says about itself when it fails, at most this is passed on. */
const MAX_REASON_BYTES = 2 * 1024;
/** Shorter words than this stand in every text. */
const SHORTEST_SECRET = 6;
/** Errors within errors. */
const MAX_CAUSES = 5;

/** An address for people and logs: without user info, query and fragment, where secrets are put. */
export function shownUrl(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

/** A failure as it is, anything else as a failure of the most fitting kind. Its text repeats none of the secrets. */
export function failureOf(error: unknown, secrets: ReadonlySet<string>): McpFailure {
  if (error instanceof McpFailure) return error;
  const { kind, text } = judge(error);
  const words = cutText(withoutSecrets(withoutQueries(text), secrets), MAX_REASON_BYTES);
  return new McpFailure(kind, /[.!?]$/.test(words) ? words : `${words}.`);
}

/** The server certainly did not take the request, because it knows no such session (any more). */
export function isSessionLost(error: unknown): boolean {
  if (!(error instanceof StreamableHTTPError)) return false;
  // 404 is the protocol's word; servers that follow the library's examples say 400 and name the session.
  return error.code === 404 || (error.code === 400 && /session/i.test(error.message));
}

/** Longer ones first, so that no end of one is left when a shorter one begins as it does. */
export function withoutSecrets(text: string, secrets: ReadonlySet<string>): string {
  return [...secrets]
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .sort((a, b) => b.length - a.length)
    .reduce((rest, secret) => rest.replaceAll(secret, "[hidden]"), text);
}

/** Addresses lose user info, query and fragment wherever they stand in a text. */
export function withoutQueries(text: string): string {
  return text.replace(/\bhttps?:\/\/[^\s"'<>)]+/g, (found) => {
    const end = /[.,;:!?]*$/.exec(found)?.[0] ?? "";
    const address = found.slice(0, found.length - end.length);
    return URL.canParse(address) ? shownUrl(new URL(address)) + end : "[address]";
  });
}

function judge(error: unknown): { kind: McpFailureKind; text: string } {
  if (error instanceof OutboundRefused) return { kind: "blocked", text: error.message };
  if (error instanceof OutboundLimitExceeded) return { kind: "timeout", text: error.message };
  if (error instanceof StreamableHTTPError && error.code === -1)
    return { kind: "malformed", text: `It does not answer by the protocol: ${error.message}` };
  if (error instanceof StreamableHTTPError || error instanceof SseError)
    return { kind: "unreachable", text: httpText(error) };
  if (error instanceof SyntaxError || error instanceof z.ZodError)
    return { kind: "malformed", text: "Its answer is not of the protocol" };
  if (error instanceof McpError) {
    const isClosed = error.code === ErrorCode.ConnectionClosed && error.message.endsWith("Connection closed");
    return { kind: isClosed ? "unreachable" : "refused", text: error.message };
  }
  return { kind: "unreachable", text: deepestText(error) };
}

function httpText(error: StreamableHTTPError | SseError): string {
  return error.code === undefined ? error.message : `HTTP ${error.code}: ${error.message}`;
}

/** `fetch failed` says nothing: what it was caused by does. */
function deepestText(error: unknown): string {
  let deepest = error;
  for (let depth = 0; depth < MAX_CAUSES; depth += 1) {
    const cause: unknown = deepest instanceof Error ? deepest.cause : undefined;
    if (!(cause instanceof Error) || cause.message === "") break;
    deepest = cause;
  }
  return errorText(deepest);
}
