/** Maps errors of an MCP connection to `McpFailure`s, with secrets redacted. */
import { SseError } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ErrorCode, McpError } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { errorText } from "../lib/text/error-text.js";
import { OutboundLimitExceeded, OutboundRefused } from "../lib/outbound/refused.js";
import { cutText } from "../lib/text/utf8.js";
import { McpFailure, type McpFailureKind } from "./types.js";

/** Bound of a server's own error message. */
const MAX_REASON_BYTES = 2 * 1024;
/** Shorter values are not redacted: they occur in any text. */
const SHORTEST_SECRET = 6;
/** Depth of the search through `cause`. */
const MAX_CAUSES = 5;

/** An address for messages and logs: without user info, query and fragment, which may contain secrets. */
function shownUrl(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

/** An `McpFailure` unchanged, any other error as the failure of the closest kind, with the secrets redacted. */
export function failureOf(error: unknown, secrets: ReadonlySet<string>): McpFailure {
  if (error instanceof McpFailure) return error;
  const { kind, text } = judge(error);
  const message = cutText(withoutSecrets(withoutQueries(text), secrets), MAX_REASON_BYTES);
  return new McpFailure(kind, /[.!?]$/.test(message) ? message : `${message}.`);
}

/** Whether the server ignored the request because it does not know the session (any more). */
export function isSessionLost(error: unknown): boolean {
  if (!(error instanceof StreamableHTTPError)) return false;
  // The protocol prescribes 404; servers based on the library's examples answer 400 and mention the session.
  return error.code === 404 || (error.code === 400 && /session/i.test(error.message));
}

/** Longer secrets first, so that a secret that is a prefix of another one does not leave its rest. */
export function withoutSecrets(text: string, secrets: ReadonlySet<string>): string {
  return [...secrets]
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .sort((a, b) => b.length - a.length)
    .reduce((rest, secret) => rest.replaceAll(secret, "[hidden]"), text);
}

/** Removes user info, query and fragment from all addresses in a text. */
function withoutQueries(text: string): string {
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

/** `fetch failed` says nothing; its cause has the reason. */
function deepestText(error: unknown): string {
  let deepest = error;
  for (let depth = 0; depth < MAX_CAUSES; depth += 1) {
    const cause: unknown = deepest instanceof Error ? deepest.cause : undefined;
    if (!(cause instanceof Error) || cause.message === "") break;
    deepest = cause;
  }
  return errorText(deepest);
}
